import { dirname, join } from 'node:path';
import type { Manifest } from '../../backup/catalog/manifest.ts';
import { passedOverText } from '../../backup/catalog/passed-over.ts';
import { scratchDirectory } from '../../backup/payload/scratch-directory.ts';
import { SYSTEMD_ROOTS } from '../../control-plane/node/systemd-unit.ts';
import { refuseWithoutRoom } from '../../control-plane/restore/free-space.ts';
import { type PlanRequest, planSteps, planText } from '../../control-plane/restore/plan.ts';
import { bumpAndToken, fetchChecked } from '../../control-plane/restore/prepare.ts';
import { etcdTrouble } from '../../control-plane/state/health.ts';
import { leftOutNotes, leftOutOf } from '../../control-plane/state/members-left-out.ts';
import { highestOf } from '../../control-plane/state/served-revisions.ts';
import { initialClusterOf } from '../../control-plane/state/snapshot-members.ts';
import { quoted } from '../../lib/quoted.ts';
import { withTimeout } from '../../lib/run-limit.ts';
import type { CommandContext } from '../cli/command.ts';
import type { CommandResult } from '../cli/result.ts';
import type { Settings } from '../cli/settings.ts';
import { type OpenedCatalog, withAnswering } from '../shared/store-run.ts';
import { switchNotes } from '../shared/warn-switches.ts';
import { type ControlPlaneRequest, nodeOf, placesOf, prepareRequest, refuseNode } from './control-plane-request.ts';

/** Checks everything that can be checked without changing the node, and prints the remaining steps. */
export const plan = (context: CommandContext): Promise<CommandResult> =>
  withTimeout(context, (signal, grow) => makePlan({ ...context, signal }, grow));

async function makePlan(context: CommandContext, grow: (bytes: number) => void): Promise<CommandResult> {
  const { settings } = context;
  const places = placesOf(settings);
  const node = await nodeOf(settings);
  await refuseNode(node, places);
  return withAnswering(context, async (opened) => {
    const request = await prepareRequest(opened, node, context, grow);
    const { manifest } = request;
    await refuseWithoutRoom(node.member, manifest.content.sizeBytes);
    await using scratch = await scratchDirectory(settings.scratch);
    // The plan names the snapshot, so a missing name is not an error here.
    const checked = await fetchChecked({ ...request, missingName: undefined }, join(scratch.path, 'snapshot.db'));
    const image = settings.text('image');
    const { members, ofSnapshot } = checked;
    const { signal } = context;
    const { leftOut } = await leftOutOf({ member: node.member, manifest, ofSnapshot, restored: members, signal });
    const { flags, ...again } = flagsAgain(settings);
    const { bump, token } = bumpAndToken(request, checked, true);
    const initialCluster = initialClusterOf(members);
    const wanted: PlanRequest = {
      ...places,
      ...again,
      ...(node.kind === 'systemd' && { mayExist: [...SYSTEMD_ROOTS, ...(node.files ?? [])] }),
      // Passed to all nodes, so that they agree whatever each of them knows.
      flags: [...withNamespace(flags, opened), ...sha256Of(settings, manifest), `--bump-revision=${bump}`],
      notes: [...(await notesOf(request)), ...switchNotes(manifest.id, checked), ...leftOutNotes(leftOut)],
      id: manifest.id,
      createdAt: manifest.createdAt,
      revision: checked.revision,
      sourceClusterId: manifest.source.clusterId,
      members,
      token,
      bump,
      initialCluster,
      leftOut,
      node,
      ...(image !== undefined && { image }),
    };
    return {
      exitCode: 0,
      text: planText(wanted),
      data: { id: manifest.id, initialCluster, token, bump, notes: wanted.notes, steps: planSteps(wanted) },
    };
  });
}

/** Facts to know before the first command. */
async function notesOf({ passedOver, manifest, served, node }: ControlPlaneRequest): Promise<string[]> {
  const { revision, where } = highestOf([...served.inStore, ...served.here]);
  const trouble = await etcdTrouble(node.member);
  return [
    ...passedOverText(passedOver, manifest.id),
    ...[...new Set([...served.mustAsk, ...served.unknown])].map(
      (what) => `The revision may be higher than --bump-revision allows for: ${what}`,
    ),
    ...(revision > 0 ? [`The highest known revision is ${revision}: ${where}`] : []),
    ...(node.unseen ?? []).map(
      (path) =>
        `${path} is not mounted into this container, so it was not read, although it may describe etcd; the function below mounts it where it exists`,
    ),
    trouble === undefined
      ? 'etcd on this node is healthy and has a quorum: restore only if its data is wrong, because everything since the snapshot will be lost'
      : `etcd on this node: ${trouble}`,
  ];
}

/** Adds the SHA-256 if the snapshot is named by a key: its object may be replaced between the restores of two nodes. */
const sha256Of = (settings: Settings, { content }: Manifest): string[] =>
  settings.text('objectKey') === undefined ? [] : [`--sha256=${content.sha256}`];

/** Adds the namespace that was found by a search, so that no other node has to search. */
const withNamespace = (flags: readonly string[], { namespace }: OpenedCatalog): string[] =>
  namespace === undefined || flags.some((flag) => flag.startsWith('--namespace='))
    ? [...flags]
    : [...flags, `--namespace=${quoted(namespace)}`];

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
    ...identities.map((file) => `--age-identity-file=${quoted(file)}`),
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
  return { flags, files, ...(storeFolder !== undefined && { storeFolder }) };
}

/** Files and folders that a store refers to: credentials, certificate authorities, its directory. */
const pathsIn = (spec: object): string[] =>
  Object.values(spec).flatMap((value) => {
    if (typeof value === 'string') return value.startsWith('/') ? [value] : [];
    return value !== null && typeof value === 'object' ? pathsIn(value) : [];
  });
