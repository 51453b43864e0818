import { rules, rulesWithoutRecord } from '../../../src/controllers/cluster/operations/rules.ts';
import { gateSteps, serveSteps } from '../../../src/member/steps.ts';

const chance = 'only when two things meet within milliseconds: some runs reach it, the model check always does';
const sick = 'needs a disk, a database or a snapshot in a state that a test cannot bring about at a given moment';

/** They have a life of their own, in switch.suite.ts. */
export const switchPoints: readonly string[] = [
  'SwitchTransport',
  'SwitchTransport.open',
  'SwitchTransport.encrypt',
  'SwitchTransport.decrypt',
  'SwitchTransport.end',
  'UpdatePeerUrls',
];

/**
 * Rules and steps that the lives in this suite need not reach, and why. The model check reaches every rule, with a
 * crash before and after.
 */
export const exceptions: Readonly<Record<string, string>> = {
  SeedAnew: 'the version is lowered before the first member is seen to serve: bootstrap.test.ts',
  SeedVersion: 'the image is changed before the first start: bad-input of the gate',
  AdoptMember: chance,
  AnnotateRoots: 'a new root is loaded an hour after its announcement: the model check, with a crash before and after',
  SeedTransport: 'manifests with and without certificates while the seed starts: switch.test.ts',
  'SwitchTransport.note': 'a record of an older release: switch.test.ts',
  ...Object.fromEntries(switchPoints.map((point) => [point, 'switch.suite.ts'])),
  TombstoneVanished: chance,
  'AddLearner.drop': chance,
  'Promote.drop': chance,
  'RestartPod.drop': chance,
  RestartRetired: chance,
  RestartBroken: chance,
  RestartSeed: 'an image of another version while it boots: bootstrap.test.ts',
  RestartUnborn: chance,
  RestartUnstarted:
    'a template that was broken and is right again: restart-broken.test.ts, never-formed.suite.ts on a Kubernetes',
  'Settle.mark': 'a rebuilt record of whose versions no agent has read: upgrade.test.ts',
  'FreeNode.claim': 'a scheduler that finds no node: loss.suite.ts on a Kubernetes',
  'FreeNode.pod': 'a claim that goes before its pod: only Kubernetes shows it',
  'Remove.yield': chance,
  'Remove.moveLeader': chance,
  'IssuePermit.again': chance,
  'Upgrade.drop': chance,
  'ClearNoSpace.drop': chance,
  LowerReplicas: chance,
  PruneClaim: chance,
  'Job.replace': chance,
  'SeedPod.again': 'a StatefulSet controller that is behind: only Kubernetes shows it',
  'SeedPod.certificates': 'a pod of a template without certificates: only Kubernetes makes one during a restore',
  'Restore.withdrawn': chance,
  'Restore.failed': chance,
  'Restore.noSpace': sick,
  'Restore.changed': sick,
  'Restore.notStarted': 'a Job whose pod finds no node: only Kubernetes shows it',
  'Restore.giveWay': 'an image of another version, or a pod that is not heard of: restore.test.ts',
  'Restore.yield': chance,
  'Safety.replace': 'a quorum that comes back before the fence: restore.test.ts',
  'Safety.again': 'a quorum that comes back before the fence: restore.test.ts',
  'Restore.giveUp': 'a store that goes away past the fence: restore.suite.ts',
  'Restore.supersede': 'a store that goes away past the fence: restore.suite.ts',
  'RestorePermit.again': 'the Job is killed past the fence: restore.suite.ts',
  'RestorePermit.another': 'the seed is lost past the fence: restore.suite.ts',
  'Recover.stored': 'a survivor that was not restarted: quorum-loss.suite.ts',
  'Recover.salvageInstead': 'the survivor ends during its backup: quorum-loss.suite.ts',
  'Recover.survivorLost': 'nothing is left: quorum-loss.suite.ts',
  'ClearNoSpace.full': sick,
  'ClearNoSpace.deeper': 'history that fills more than half of the quota after a compaction: no-space.test.ts',
  'ClearNoSpace.useless': 'keys that fill the quota: no-space.test.ts',
  KeepSnapshots:
    'the list is in a ConfigMap, which this world does not have: restore.test.ts, record-config-map.test.ts',
  NoteReached: 'marks are older than a life here is long: reached.test.ts',
  'Defragment.noRoom': sick,
  'Defragment.giveUp': 'a request that cannot begin: maintenance.suite.ts',
  'MoveLeader.giveUp': 'a request that cannot begin: maintenance.suite.ts',
  'Defragment.stop': chance,
  'Defragment.back': chance,
  'Defragment.leads': chance,
  'Defragment.giveWay': 'a backup, an alarm or a restore between two members: maintenance.test.ts',
  'MoveLeader.stop': chance,
  'ClearNoSpace.noRoom': sick,
  'Upgrade.withoutBackup': 'no schedule: upgrade.suite.ts',
  DisarmCorrupt: sick,
  'gate leftover.moved': 'a start that etcd refused: gate.suite.ts',
};

/** Every point of a kill: before and after each effect of the reconciler, and after each step of the agent. */
export function everyPoint(): string[] {
  const effects = [...rulesWithoutRecord, ...rules].filter(({ effect }) => effect).map(({ name }) => name);
  return [
    ...[...new Set(effects)].flatMap((name) => [`before ${name}`, `after ${name}`]),
    ...gateSteps.map((step) => `gate ${step}`),
    ...serveSteps.flatMap((step) => [`serve ${step}`, `etcd ${step}`]),
  ];
}

const rowOf = (point: string): string => point.replace(/^(before|after) /, '');

/** Points that were not reached, and exceptions that were reached. */
export function untried(killed: ReadonlySet<string>): string[] {
  const points = everyPoint();
  const isExcepted = (point: string) => point in exceptions || rowOf(point) in exceptions;
  const stale = Object.keys(exceptions).filter(
    (name) => !points.some((point) => point === name || rowOf(point) === name),
  );
  return [
    ...points
      .filter((point) => !killed.has(point) && !isExcepted(point))
      .map((point) => `${point}: never killed there`),
    ...stale.map((name) => `${name}: an exception for something that is not there`),
  ];
}
