import type { Encryption } from '../backup/encryption';
import { qualifiedNameProblem } from '../lib/labels';
import { hostPathProblem } from '../stores/host-path';
import { problemsOf } from '../validation/problems';
import type { ControlPlaneEtcdBackupProps, ControlPlaneFiles } from './control-plane-etcd-backup-props';
import { extraPaths } from './control-plane-host';

/** Problems with the properties that other backup schedules do not have. */
export function controlPlaneProblems(props: ControlPlaneEtcdBackupProps, namespace: string | undefined): string[] {
  const { nodeLabels, manifestsDirectory, etcdService, certificates, dataDir, restoreDirectory, files, encryption } =
    props;
  const paths = { manifestsDirectory, dataDir, restoreDirectory };
  return [
    ...problemsOf(
      namespaceProblem(props, namespace),
      nodeLabels?.length === 0 ? 'nodeLabels: is empty; give at least one, or leave it out' : undefined,
      ...(nodeLabels ?? []).map((label) => qualifiedNameProblem('nodeLabels', label)),
      props.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution === undefined
        ? undefined
        : 'affinity: the pods must be on a node with etcd, which nodeLabels decides; remove nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution',
      etcdService && manifestsDirectory !== undefined
        ? 'manifestsDirectory: has no effect with etcdService, which has no manifest; remove one of them'
        : undefined,
      manifestsDirectory?.match(/^\/[^/]*$/)
        ? `manifestsDirectory: '${manifestsDirectory}' is in the root directory of the node, but a restore also needs the directory above it; write it like /etc/kubernetes/manifests`
        : undefined,
      ...pathProblems('', paths),
      ...pathProblems('certificates: ', { ...certificates }),
    ),
    ...(files ? filesProblems(files, encryption) : []),
  ];
}

function pathProblems(prefix: string, paths: Readonly<Record<string, string | undefined>>): (string | undefined)[] {
  return Object.entries(paths).map(([name, path]) =>
    path === undefined ? undefined : hostPathProblem(`${prefix}${name}`, path),
  );
}

function namespaceProblem(
  { createNamespace = true }: ControlPlaneEtcdBackupProps,
  namespace: string | undefined,
): string | undefined {
  if (namespace === undefined) {
    return "namespace: the chart has none; give it its own, new Chart(app, ID, { namespace: 'etcd-backup' })";
  }
  if (!createNamespace || !/^(default|kube-.*)$/.test(namespace)) return undefined;
  return `namespace: '${namespace}' belongs to Kubernetes, so its Pod Security level must not be changed; give the chart another namespace, or set createNamespace: false`;
}

function filesProblems(files: ControlPlaneFiles, ofSnapshot: Encryption | undefined): string[] {
  const paths = extraPaths(files).map(({ path }) => path);
  const twice = paths.find((path, index) => paths.indexOf(path) < index);
  return [
    ...problemsOf(
      paths.length === 0 ? 'files: is empty; give directories or files, or leave it out' : undefined,
      ...paths.map((path) => hostPathProblem('files', path)),
      twice === undefined ? undefined : `files: '${twice}' is given twice; remove one`,
      files.encryption || ofSnapshot
        ? undefined
        : 'files: contain keys, so they are stored only with encryption; give encryption for the backup or for files',
    ),
    ...(files.encryption?._problems().map((problem) => `files: ${problem}`) ?? []),
  ];
}
