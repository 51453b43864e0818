import type { Encryption } from '../backup/encryption';
import { qualifiedNameProblem } from '../lib/labels';
import { hostPathProblem } from '../stores/host-path';
import { problemsOf } from '../validation/names';
import type { ControlPlaneEtcdBackupProps, ControlPlaneFiles } from './control-plane-etcd-backup-props';
import { extraPaths } from './control-plane-host';

/** What is wrong beyond what any backup schedule checks. */
export function controlPlaneProblems(props: ControlPlaneEtcdBackupProps, namespace: string | undefined): string[] {
  const { nodeLabels, manifestsDirectory, etcdService, certificates, dataDir, restoreDirectory, files, encryption } =
    props;
  const paths = { manifestsDirectory, dataDir, restoreDirectory };
  return [
    ...problemsOf(
      namespaceProblem(props, namespace),
      nodeLabels?.length === 0 ? 'nodeLabels: none given; name at least one, or leave it out' : undefined,
      ...(nodeLabels ?? []).map((label) => qualifiedNameProblem('nodeLabels', label)),
      etcdService && manifestsDirectory !== undefined
        ? 'manifestsDirectory: is of no use with etcdService, which has no manifest; remove one of them'
        : undefined,
      manifestsDirectory?.match(/^\/[^/]*$/)
        ? `manifestsDirectory: '${manifestsDirectory}' lies in the root of the node, and a restore needs the folder above it too; it is like /etc/kubernetes/manifests`
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
    return "namespace: the chart has none; give it one of its own: new Chart(app, ID, { namespace: 'etcd-backup' })";
  }
  if (!createNamespace || !/^(default|kube-.*)$/.test(namespace)) return undefined;
  return `namespace: '${namespace}' is Kubernetes' own, whose Pod Security level is not ours to set; give the chart another one, or createNamespace: false`;
}

function filesProblems(files: ControlPlaneFiles, ofSnapshot: Encryption | undefined): string[] {
  const paths = extraPaths(files).map(({ path }) => path);
  const twice = paths.find((path, index) => paths.indexOf(path) < index);
  return [
    ...problemsOf(
      paths.length === 0 ? 'files: none given; name directories or files, or leave it out' : undefined,
      ...paths.map((path) => hostPathProblem('files', path)),
      twice === undefined ? undefined : `files: '${twice}' is given twice; remove one`,
      files.encryption || ofSnapshot
        ? undefined
        : 'files: hold keys, and are only stored encrypted; give encryption, of the backup or of files',
    ),
    ...(files.encryption?._problems().map((problem) => `files: ${problem}`) ?? []),
  ];
}
