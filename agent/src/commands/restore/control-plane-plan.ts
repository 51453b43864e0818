import { join } from 'node:path';
import type { SnapshotManifest } from '../../backup/catalog/manifest.ts';
import { scratchDirectory } from '../../backup/payload/scratch-directory.ts';
import { SYSTEMD_ROOTS } from '../../control-plane/node/systemd-unit.ts';
import { quotaNotes, refuseWithoutRoom } from '../../control-plane/restore/free-space.ts';
import { bumpAndToken, type Checked, fetchChecked } from '../../control-plane/restore/prepare.ts';
import { finding } from '../../control-plane/state/finding.ts';
import { etcdTrouble, peerAnswers } from '../../control-plane/state/health.ts';
import { leftOutNotes, leftOutOf } from '../../control-plane/state/members-left-out.ts';
import { everySeen, highestOf } from '../../control-plane/state/served-revisions.ts';
import { initialClusterOf, votersOf } from '../../control-plane/state/snapshot-members.ts';
import { withTimeout } from '../../lib/limits/budget.ts';
import { passedOverNotes } from '../advice/passed-over.ts';
import { type PlanRequest, planSteps, planText } from '../advice/plan.ts';
import type { CommandContext } from '../cli/command.ts';
import type { CommandResult } from '../cli/result.ts';
import type { Settings } from '../cli/settings.ts';
import { withAnswering } from '../shared/store-run.ts';
import { switchNotes } from '../shared/warn-switches.ts';
import { flagsAgain, withNamespace } from './control-plane-flags.ts';
import { type ControlPlaneRequest, nodeOf, placesOf, prepareRequest, refuseNode } from './control-plane-request.ts';

/** Checks everything that can be checked without changing the node, and prints the remaining steps. */
export const plan = (context: CommandContext): Promise<CommandResult> => withTimeout(context, makePlan);

async function makePlan(context: CommandContext): Promise<CommandResult> {
  const { settings } = context;
  const places = placesOf(settings);
  const node = await nodeOf(settings);
  await refuseNode(node, places);
  return withAnswering(context, async (opened) => {
    const request = await prepareRequest(opened, node, context);
    const { manifest } = request;
    await refuseWithoutRoom(node.member, manifest.content.sizeBytes);
    await using scratch = await scratchDirectory(settings.scratch);
    // The plan names the snapshot, so a missing name is not an error here.
    const checked = await fetchChecked({ ...request, namedCommand: undefined }, join(scratch.path, 'snapshot.db'));
    const image = settings.text('image');
    const { members, ofSnapshot } = checked;
    const { signal } = context;
    const { leftOut, unread } = await leftOutOf({
      member: node.member,
      manifest,
      ofSnapshot,
      restored: members,
      signal,
    });
    const { flags, ...again } = flagsAgain(settings);
    const { bump, token } = bumpAndToken(request, checked);
    const initialCluster = initialClusterOf(members);
    const wanted: PlanRequest = {
      finding: await findingOf(request, checked, signal),
      ...places,
      ...again,
      mayExist: node.kind === 'systemd' ? [...SYSTEMD_ROOTS, ...(node.files ?? [])] : undefined,
      // Passed to all nodes, so that they agree whatever each of them knows.
      flags: [...withNamespace(flags, opened), ...sha256Of(settings, manifest), `--bump-revision=${bump}`],
      notes: [
        ...notesOf(request),
        ...quotaNotes(node.member, manifest),
        ...switchNotes(manifest.id, checked, true),
        ...leftOutNotes(leftOut, unread),
      ],
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
      image,
    };
    return {
      exitCode: 0,
      text: planText(wanted),
      data: {
        id: manifest.id,
        initialCluster,
        token,
        bump,
        notes: [wanted.finding, ...wanted.notes],
        steps: planSteps(wanted),
      },
    };
  });
}

async function findingOf(
  { node: { member }, manifest: { createdAt }, served: { here }, clusterIds }: ControlPlaneRequest,
  { members: restored, ofSnapshot, revision }: Checked,
  signal: AbortSignal,
): Promise<string> {
  const members = votersOf(ofSnapshot);
  const urls = [...[...members, ...restored].flatMap(({ peerUrls }) => peerUrls), ...member.listenPeerUrls];
  const [trouble, answers] = await Promise.all([etcdTrouble(member), peerAnswers(urls, member, signal)]);
  return finding({ member, trouble, here, answers, snapshot: { createdAt, revision, members, clusterIds } });
}

/** Facts to know before the first command. */
function notesOf({ passedOver, manifest, served, node }: ControlPlaneRequest): string[] {
  const { revision, where } = highestOf(everySeen(served));
  return [
    ...passedOverNotes(passedOver, manifest.id),
    ...(revision > 0 ? [`The highest known revision is ${revision}: ${where}`] : []),
    ...(node.unseen ?? []).map(
      (path) =>
        `${path} is not mounted into this container, so it was not read, although it may describe etcd; the function below mounts it where it exists`,
    ),
  ];
}

/** Adds the SHA-256 if the snapshot is named by a key: its object may be replaced between the restores of two nodes. */
const sha256Of = (settings: Settings, { content }: SnapshotManifest): string[] =>
  settings.text('objectKey') === undefined ? [] : [`--sha256=${content.sha256}`];
