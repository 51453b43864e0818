import { dirname } from 'node:path';
import type { NamedCluster } from '../../backup/catalog/identity/folder.ts';
import type { SnapshotManifest } from '../../backup/catalog/manifest.ts';
import { quoted } from '../../lib/quoted.ts';
import { sameIdentities, sameTools } from '../advice/flags.ts';
import type { PlanRequest } from '../advice/plan.ts';
import type { Settings } from '../cli/settings.ts';
import { missingName } from '../shared/snapshot-flags.ts';

/** Returns this command with the name of the snapshot that it has found, or undefined if it names one. */
export function namedCommand(settings: Settings, manifest: SnapshotManifest, named: NamedCluster): string | undefined {
  const missing = missingName(settings, manifest);
  if (missing === undefined) return undefined;
  const [bump, wait] = [settings.text('bumpRevision'), settings.text('wait')];
  const flags = [
    ...withNamespace(flagsAgain(settings).flags, named),
    ...(bump === undefined ? [] : [`--bump-revision=${quoted(bump)}`]),
    ...(wait === undefined || wait === '10m' ? [] : [`--wait=${quoted(wait)}`]),
    ...(settings.flag('stop') ? ['--stop'] : []),
    ...sameTools(settings),
  ];
  return `etcd-agent restore control-plane ${quoted(missing)} ${flags.join(' ')}`;
}

/** Adds the namespace that was found by a search, so that no other node has to search. */
export const withNamespace = (flags: readonly string[], { namespace = '' }: NamedCluster): string[] =>
  flags.some((flag) => flag.startsWith('--namespace=')) ? [...flags] : [...flags, quoted(`--namespace=${namespace}`)];

const repeated: readonly [name: string, flag: string, isPath?: true][] = [
  ['cluster', '--cluster'],
  ['namespace', '--namespace'],
  ['objectKey', '--object-key'],
  ['manifestsDir', '--manifests-dir'],
  ['journalDir', '--journal-dir'],
  ['etcdUnit', '--etcd-unit', true],
  ['etcdEnvironmentFile', '--etcd-environment-file', true],
  ['etcdConfigFile', '--etcd-config-file', true],
  ['dataDir', '--data-dir'],
  ['cert', '--cert', true],
  ['key', '--key', true],
  ['initialCluster', '--initial-cluster'],
  ['initialClusterToken', '--initial-cluster-token'],
  ['serverVersion', '--server-version'],
  ['config', '--config', true],
];

/** Flags of this run that the other nodes also need. They contain no secrets, only names of files with secrets. */
export function flagsAgain(settings: Settings): Pick<PlanRequest, 'flags' | 'files' | 'storeFolder'> {
  const store = settings.store();
  const { retention: _, ...spec } = store;
  const identities = settings.list('ageIdentityFile');
  const flags = [
    `--store=${quoted(JSON.stringify(spec))}`,
    ...repeated.flatMap(([name, flag]) => {
      const value = settings.text(name);
      return value === undefined || (name === 'manifestsDir' && value === '/etc/kubernetes/manifests')
        ? []
        : [`${flag}=${quoted(value)}`];
    }),
    ...sameIdentities(settings),
    ...['adopt', 'forceFailed', 'forceForeign'].flatMap((name) =>
      settings.flag(name) ? [`--${name.replace('F', '-f')}`] : [],
    ),
  ];
  const named = repeated.flatMap(([name, , isPath]) => (isPath ? [settings.text(name)] : []));
  const unit = settings.text('etcdUnit');
  const files = [...named, ...identities, ...pathsIn(spec)]
    .filter((path) => path !== undefined)
    // The folder of the unit also contains its drop-ins.
    .map((path) => (path === unit ? dirname(path) : path));
  const storeFolder = 'filesystem' in spec ? spec.filesystem?.path : undefined;
  return { flags, files, storeFolder };
}

/** Files and folders that a store refers to: credentials, certificate authorities, its directory. */
const pathsIn = (spec: object): string[] =>
  Object.values(spec).flatMap((value) => {
    if (typeof value === 'string') return value.startsWith('/') ? [value] : [];
    return value !== null && typeof value === 'object' ? pathsIn(value) : [];
  });
