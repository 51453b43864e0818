import { join } from 'node:path';
import { scratchDirectory } from '../backup/scratch.ts';
import type { CommandContext } from '../command.ts';
import { bumpBeyond } from '../control-plane/bump.ts';
import { refuseWithoutRoom } from '../control-plane/data-folders.ts';
import { hostOf } from '../control-plane/local-address.ts';
import { type PlanRequest, planSteps, planText, quoted } from '../control-plane/plan.ts';
import { fetchChecked } from '../control-plane/prepare.ts';
import { initialClusterOf } from '../control-plane/snapshot-members.ts';
import type { CommandResult } from '../result.ts';
import { withTimeout } from '../run-limit.ts';
import type { Settings } from '../settings.ts';
import { bumpFlag } from './bump-flag.ts';
import { nodeOf, placesOf, prepareRequest, refuseNode } from './control-plane-request.ts';
import { withStore } from './store-run.ts';

/** Does all that can be done without changing the node, and prints what is left to do. */
export const plan = (context: CommandContext): Promise<CommandResult> =>
  withTimeout(context, (signal, grow) => makePlan({ ...context, signal }, grow));

async function makePlan(context: CommandContext, grow: (bytes: number) => void): Promise<CommandResult> {
  const { settings } = context;
  const places = placesOf(settings);
  const node = await nodeOf(settings);
  await refuseNode(node, places);
  return withStore(context, async (opened) => {
    const request = await prepareRequest(opened, node, context, grow);
    const { manifest } = request;
    await refuseWithoutRoom(node.member.dataDir, manifest.content.sizeBytes);
    await using scratch = await scratchDirectory(settings.scratch);
    // The plan itself names the snapshot.
    const checked = await fetchChecked({ ...request, named: true }, join(scratch.path, 'snapshot.db'));
    const image = settings.text('image');
    const hosts = new Set(checked.members.flatMap(({ peerUrls }) => peerUrls.map(hostOf)));
    const known = [...checked.ofSnapshot.flatMap(({ peerUrls }) => peerUrls), ...node.member.initialPeerUrls];
    const again = flagsAgain(settings);
    // Other nodes might find a snapshot more, and jump farther still.
    const farther = bumpFlag(settings) !== undefined || request.bump > bumpBeyond([checked.revision]);
    const wanted: PlanRequest = {
      ...places,
      ...again,
      ...(farther && { flags: [...again.flags, `--bump-revision=${request.bump}`] }),
      id: manifest.id,
      createdAt: manifest.createdAt,
      revision: checked.revision,
      sourceClusterId: manifest.source.clusterId,
      members: checked.members,
      token: request.token,
      bump: request.bump,
      initialCluster: initialClusterOf(checked.members),
      leftOut: [...new Set(known.map(hostOf))].filter((host) => !hosts.has(host)),
      node,
      ...(image !== undefined && { image }),
    };
    return {
      exitCode: 0,
      text: planText(wanted),
      data: { id: manifest.id, initialCluster: wanted.initialCluster, token: wanted.token, steps: planSteps(wanted) },
    };
  });
}

const repeated: readonly [name: string, flag: string, isPath?: true][] = [
  ['cluster', '--cluster'],
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

/** The flags of this run that the others need too; no secret is among them, only files that hold one. */
function flagsAgain(settings: Settings): Pick<PlanRequest, 'flags' | 'files' | 'storeFolder'> {
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
    ...identities.map((file) => `--age-identity-file=${quoted(file)}`),
    ...['adopt', 'forceForeign'].flatMap((name) => (settings.flag(name) ? [`--${name.replace('F', '-f')}`] : [])),
  ];
  const named = repeated.flatMap(([name, , isPath]) => (isPath ? [settings.text(name)] : []));
  const files = [...named, ...identities, ...pathsIn(spec)].filter((path) => path !== undefined);
  const storeFolder = 'filesystem' in spec ? spec.filesystem?.path : undefined;
  return { flags, files, ...(storeFolder !== undefined && { storeFolder }) };
}

/** The files and folders that a store names: credentials, authorities, its own directory. */
const pathsIn = (spec: object): string[] =>
  Object.values(spec).flatMap((value) => {
    if (typeof value === 'string') return value.startsWith('/') ? [value] : [];
    return value !== null && typeof value === 'object' ? pathsIn(value) : [];
  });
