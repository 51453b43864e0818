import { defaults } from '../resource/defaults';
import type { ControlPlaneSpec } from '../resource/types';
import { problemsOf } from '../validation/problems';
import { extraPaths } from './control-plane-host';

/** Problems with what other backup schedules do not have and its schema does not report, whoever wrote it. */
export function controlPlaneProblems(spec: ControlPlaneSpec, namespace: string | undefined): string[] {
  const { manifestsDirectory, files } = spec;
  const paths = files ? extraPaths(files).map(({ path }) => path) : [];
  const twice = paths.find((path, index) => paths.indexOf(path) < index);
  return problemsOf(
    namespaceProblem(spec, namespace),
    manifestsDirectory?.match(/^\/[^/]*$/)
      ? `manifestsDirectory: '${manifestsDirectory}' is in the root directory of the node, but a restore also needs the directory above it; write it like /etc/kubernetes/manifests`
      : undefined,
    twice === undefined ? undefined : `files: '${twice}' is given twice; remove one`,
  );
}

function namespaceProblem(
  { createNamespace = defaults.ControlPlaneSpec.createNamespace }: ControlPlaneSpec,
  namespace: string | undefined,
): string | undefined {
  if (namespace === undefined) {
    return "namespace: the chart has none; give it its own, new Chart(app, ID, { namespace: 'etcd-backup' })";
  }
  if (!createNamespace || !/^(default|kube-.*)$/.test(namespace)) return undefined;
  return `namespace: '${namespace}' belongs to Kubernetes, so its Pod Security level must not be changed; give the chart another namespace, or set createNamespace: false`;
}
