import { decide, type GateDecision } from '../../src/member/gate/decide.ts';
import type { VolumeFacts } from '../../src/member/volume.ts';
import type { Identity } from '../../src/protocol/agent-status.ts';
import { scenarioNames, scenarioOf } from '../model/scenarios.ts';
import { INDEX_UNIT, raftIndex } from '../model/world/etcd.ts';
import { look } from '../model/world/gate.ts';
import { moves } from '../model/world/moves.ts';
import { planner } from '../model/world/planner.ts';
import { clusterById } from '../model/world/processes.ts';
import type { Volume, World } from '../model/world/world.ts';

// The model check relies on the gate of agent/test/model/world/gate.ts. This suite checks that the real gate behaves
// like it.

/** Returns what the model's gate did in one pass. */
function modelled(world: World, i: number, api: boolean): string {
  const next = look(world, i, api);
  const [before, after] = [world.volumes[i]!, next.volumes[i]!];
  const pod = next.pods[i]!;
  if (after.volumeId !== before.volumeId) return 'new volumeId';
  if (pod.state === 'refused') return pod.reason!;
  if (pod.state === 'wait') return 'wait';
  return 'start';
}

/** Returns the same for the real gate. */
function judged(world: World, i: number, api: boolean): string {
  const pod = world.pods[i]!;
  const doc = api ? world.record?.doc : undefined;
  const volume = world.volumes[i]!;
  const { wal } = volume;
  const cluster = clusterById(world, wal?.cluster);
  const decision = decide({
    cluster: 'c',
    ordinal: i,
    minEpoch: pod.minEpoch,
    etcdVersion: pod.version,
    volume: volumeOf(world, volume, i),
    ...(wal && cluster && { lastIndex: raftIndex(cluster, wal.at) }),
    record: doc ? { kind: 'record', doc } : { kind: 'unreachable', why: 'blocked' },
  });
  return named(decision);
}

function named(decision: GateDecision): string {
  switch (decision.do) {
    case 'volumeId':
    case 'quarantine':
      return 'new volumeId';
    case 'refuse':
      return decision.why.reason;
    case 'salvage':
      return 'Salvage';
    case 'wait':
      return 'wait';
    default:
      return 'start';
  }
}

function volumeOf(world: World, { volumeId, identity, wal }: Volume, ordinal: number): VolumeFacts {
  const cluster = clusterById(world, wal?.cluster);
  const stored = identity && {
    ...{ v: 1 as const, ordinal, state: 'sealed' as const, runs: 1, lastVersion: identity.version },
    ...(cluster && { clusterVersion: `3.${cluster.minor}.0` }),
    ...(identity as Omit<typeof identity, 'version'>),
  };
  return {
    walPresent: wal !== undefined,
    volumeId,
    identity: stored ? { kind: 'identity', identity: stored as Identity } : { kind: 'none' },
    ...(wal && { wal: { memberId: wal.member, clusterId: wal.cluster }, snapIndex: INDEX_UNIT * wal.snapIndex }),
    ...{ foreign: [], orphanTmp: 0, quarantineCount: 0, freeBytes: 1, totalBytes: 1 },
  };
}

/**
 * etcd, or the fetch of a snapshot, waits where the model's gate waits. The real gate refuses a configuration after it has
 * decided to start; switch.suite.ts shows it with pods that lack certificates.
 */
const isSame = (model: string, real: string): boolean =>
  model === real || (['wait', 'ConfigRefused'].includes(model) && real === 'start');

/** Returns a path through a scenario, the same in every run. */
function wander(name: string, steps: number, visit: (world: World) => void): void {
  const scenario = scenarioOf(name, planner);
  let world = scenario.start;
  let random = 1;
  for (let step = 0; step < steps; step++) {
    visit(world);
    const { all } = moves(world, scenario, planner);
    if (all.length === 0) return;
    random = (random * 48_271) % 2_147_483_647;
    world = all[random % all.length]!.next;
  }
}

test('in states of the model the real gate decides what the modelled one does', () => {
  const differ = new Map<string, number>();
  const seen = new Map<string, number>();
  const visit = (world: World) => {
    for (let i = 0; i < world.pods.length; i++) {
      const pod = world.pods[i];
      if (!pod || !world.volumes[i] || pod.cut || !['new', 'wait', 'refused'].includes(pod.state)) continue;
      for (const api of [true, false]) {
        const [model, real] = [modelled(world, i, api), judged(world, i, api)];
        seen.set(model, (seen.get(model) ?? 0) + 1);
        const pair = `${model}, not ${real}${api ? '' : ' (record unreachable)'}`;
        if (!isSame(model, real)) differ.set(pair, (differ.get(pair) ?? 0) + 1);
      }
    }
  };
  for (const name of scenarioNames) wander(name, 30, visit);
  expect([...differ]).toEqual([]);
  expect([...seen.keys()]).toEqual(
    expect.arrayContaining(['new volumeId', 'wait', 'start', 'VersionRefused', 'VolumeSetBack']),
  );
});
