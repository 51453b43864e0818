import type { PodObject } from '../../kube/objects.ts';
import type { ClusterStatus, ReportedCondition, ReportedMember } from '../../protocol/cluster-status.ts';
import { needsAttention } from '../../protocol/condition.ts';
import type { Commands } from '../commands.ts';
import { newest } from '../maintenance/outcome.ts';
import { type BackupObject, type ClusterObject, isOver, isPending, type RestoreObject } from '../objects.ts';
import { isFuture } from '../text.ts';
import { isCurrent } from './currency.ts';
import { type Operation, operationOf } from './operation.ts';
import { isAbout } from './ours.ts';
import type { EventWarning, StatusFacts } from './read.ts';

/** What `status -o json` prints. New releases may add fields, but never remove any. Unknown fields are left out. */
export interface StatusView {
  readonly schema: 'cdk8s-etcd/status/v1';
  readonly namespace: string;
  readonly cluster: string;
  /** The status is up to date, the cluster is available, and no condition needs a person. */
  readonly healthy: boolean;
  /** A reconciler keeps the status up to date. Otherwise it says how the cluster was at `observedAt`. */
  readonly current: boolean;
  readonly observedAt?: string | undefined;
  readonly phase?: string | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly paused: boolean;
  readonly size?: number | undefined;
  readonly voters?: number | undefined;
  readonly readyVoters?: number | undefined;
  readonly version?: string | undefined;
  readonly wantedVersion?: string | undefined;
  readonly leader?: string | undefined;
  readonly members: readonly ShownMember[];
  readonly needsYou: readonly Need[];
  readonly operation?: Operation | undefined;
  readonly lastOperation?: ClusterStatus['lastOperation'];
  /** What the next action of the reconciler waits for. */
  readonly waitingFor?: ClusterStatus['waiting'];
  /** The newest requests of `spec.maintenance`, and what came of them. */
  readonly maintenance?: ClusterStatus['maintenance'];
  readonly waiting: readonly Waiting[];
  readonly schedules: readonly { readonly name: string; readonly cron?: string }[];
  readonly lastBackup?: ClusterStatus['lastBackup'];
  /** The EtcdRestore that replaced the data of which `lastBackup` is. */
  readonly lastBackupReplacedBy?: string | undefined;
  /** The newest EtcdBackup that failed, if none succeeded after it. */
  readonly failedBackup?:
    | { readonly name: string; readonly at?: string | undefined; readonly message?: string | undefined }
    | undefined;
  readonly certificates: NonNullable<ClusterStatus['certificates']>;
  readonly reconciler?: { readonly holder?: string | undefined; readonly renewedAt?: string | undefined } | undefined;
  readonly warnings: readonly {
    readonly object: string;
    readonly reason?: string | undefined;
    readonly message?: string | undefined;
    readonly at?: string | undefined;
  }[];
  /** What the user may not read, and what is therefore missing here. */
  readonly notShown: readonly string[];
  /** What the API server failed to give, each with why. */
  readonly notRead: readonly string[];
}

export type Unread = Pick<StatusView, 'notShown' | 'notRead'>;

/** What is read or written beside the facts: when, and which commands the reader has. */
export interface Reading {
  readonly now: number;
  readonly commands: Commands;
}

export interface ShownMember extends ReportedMember {
  readonly node?: string | undefined;
  /** Its pod is being deleted. Its etcd may still answer. */
  readonly terminating?: true;
  /** Size of the volume, as its claim has it. */
  readonly volumeSize?: string | undefined;
}

interface Need {
  readonly condition: string;
  readonly reason: string;
  readonly message: string;
}

interface Waiting {
  readonly what: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

export function statusView(facts: StatusFacts, { now, commands, notShown, notRead }: Reading & Unread): StatusView {
  const { metadata, spec, status = {} } = facts.cluster;
  const needsYou = needs(facts);
  const current = isCurrent(status, now, facts.lease);
  return {
    schema: 'cdk8s-etcd/status/v1',
    namespace: metadata.namespace ?? '',
    cluster: metadata.name,
    healthy: current && needsYou.length === 0 && isAvailable(status),
    current,
    observedAt: status.observedAt,
    phase: status.phase,
    reason: status.reason,
    message: status.message,
    paused: spec.paused === true,
    size: spec.size,
    voters: status.voters,
    readyVoters: status.readyVoters,
    version: status.version,
    wantedVersion: spec.version,
    leader: status.leader,
    members: members(facts),
    needsYou,
    operation: operationOf(facts),
    lastOperation: status.lastOperation,
    waitingFor: status.waiting,
    ...maintenance(facts.cluster),
    waiting: [...waitingPods(facts, commands), ...waitingObjects(facts)],
    schedules: (spec.backup?.schedules ?? []).map(({ name, cron }) => ({ name, cron })),
    lastBackup: status.lastBackup,
    ...replacedBy(facts),
    failedBackup: failedBackup(facts.backups ?? [], status.lastBackup?.at, now),
    certificates: status.certificates ?? [],
    reconciler: facts.lease && {
      holder: facts.lease.spec?.holderIdentity,
      renewedAt: facts.lease.spec?.renewTime,
    },
    warnings: recentWarnings(facts, now),
    notShown,
    notRead,
  };
}

const isAvailable = ({ conditions = [] }: Partial<ClusterStatus>): boolean =>
  conditions.some(({ type, status }) => type === 'Available' && status === 'True');

function maintenance(cluster: ClusterObject): Pick<StatusView, 'maintenance'> {
  const [defragment, moveLeader] = [newest(cluster, 'defragment'), newest(cluster, 'moveLeader')];
  if (!defragment && !moveLeader) return {};
  return { maintenance: { defragment, moveLeader } };
}

function needs(facts: StatusFacts): Need[] {
  const { observedAt, conditions = [] } = facts.cluster.status ?? {};
  const found = conditions
    .filter((condition) => needsAttention(condition) && !isMoot(condition, facts))
    .map(({ type, reason, message }) => ({ condition: type, reason, message }));
  if (observedAt === undefined || conditions.some(({ type }) => type === 'Available')) return found;
  const message = 'the status does not say whether the cluster is available';
  return [{ condition: 'Available', reason: 'StateUnknown', message }, ...found];
}

/** These come from etcd, which cannot be asked during some operations. Whether it serves is in other conditions. */
const askedOfEtcd: readonly string[] = ['Alarm', 'AuthReady', 'TransportReady'];

/** It is not known, but will be after the operation, or nobody asks for it. */
function isMoot({ type, status, reason }: ReportedCondition, facts: StatusFacts): boolean {
  if (status !== 'Unknown' || reason !== 'StateUnknown' || !askedOfEtcd.includes(type)) return false;
  const isAuthAsked = facts.cluster.spec.auth !== undefined || facts.users?.length !== 0;
  return (type === 'AuthReady' && !isAuthAsked) || operationOf(facts) !== undefined;
}

function members({ cluster, pods = [], claims }: StatusFacts): ShownMember[] {
  return (cluster.status?.members ?? []).map((member) => {
    const pod = pods.find(({ metadata }) => metadata.name === member.pod);
    return {
      ...member,
      node: pod?.spec?.nodeName,
      terminating: pod?.metadata.deletionTimestamp ? true : undefined,
      volumeSize: claims.find(({ metadata }) => metadata.name === `data-${member.pod}`)?.status?.capacity?.storage,
    };
  });
}

/** Pods that do not run, as Kubernetes says it. */
const waitingPods = ({ pods = [] }: StatusFacts, commands: Commands): Waiting[] =>
  pods.flatMap((pod) => {
    const why = whyNotRunning(pod, commands);
    return why ? [{ what: `pod ${pod.metadata.name}`, ...why }] : [];
  });

function whyNotRunning({ metadata, status = {} }: PodObject, commands: Commands): Omit<Waiting, 'what'> | undefined {
  if (metadata.deletionTimestamp) return { reason: 'Terminating' };
  const unscheduled = status.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False');
  if (unscheduled) return { reason: unscheduled.reason, message: unscheduled.message };
  const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const blocked = containers.find(({ state }) => state?.waiting && !normal.has(state.waiting.reason ?? ''));
  if (blocked) return { ...blocked.state?.waiting, reason: `${blocked.name}: ${blocked.state?.waiting?.reason}` };
  const gate = status.initContainerStatuses?.find(({ name }) => name === 'gate');
  if (gate?.state?.running)
    return {
      reason: 'in its gate',
      message: `${commands.kubectl(`logs ${metadata.name} -c gate`)} says what it waits for`,
    };
  return undefined;
}

/** Reasons that a starting pod has. */
const normal: ReadonlySet<string> = new Set(['PodInitializing', 'ContainerCreating', '']);

function waitingObjects({ backups = [], restores, users = [] }: StatusFacts): Waiting[] {
  const running = [
    ...backups.filter((each) => !isOver(each)).map((each) => ({ ...each, kind: 'EtcdBackup' })),
    ...restores.filter(isPending).map((each) => ({ ...each, kind: 'EtcdRestore' })),
  ];
  return [
    ...running.map(({ kind, metadata, status = {} }) => ({
      what: `${kind} ${metadata.name}`,
      reason: [status.phase, status.reason].filter(Boolean).join(', '),
      message: status.message,
    })),
    ...users.flatMap(({ metadata, status }) => {
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      return ready && ready.status !== 'True'
        ? [{ what: `EtcdUser ${metadata.name}`, reason: ready.reason, message: ready.message }]
        : [];
    }),
  ];
}

/** Of a backup that was taken before the restore began, or by it. */
function replacedBy({ cluster, restores }: StatusFacts): Pick<StatusView, 'lastBackupReplacedBy'> {
  const last = cluster.status?.lastBackup;
  const isOlder = ({ status = {} }: RestoreObject): boolean =>
    last?.id === status.safetyBackupId || Date.parse(last?.at ?? '') < Date.parse(status.startTime ?? '');
  // One that was created again under its name has restored nothing.
  const hasRestored = ({ status }: RestoreObject) =>
    status?.phase === 'Completed' && status.reason !== 'AlreadyRestored';
  const by = last && restores.find((each) => hasRestored(each) && isOlder(each));
  return by ? { lastBackupReplacedBy: by.metadata.name } : {};
}

function failedBackup(
  backups: readonly BackupObject[],
  goodAt: string | undefined,
  now: number,
): StatusView['failedBackup'] {
  const last = backups.filter(isOver).at(-1);
  if (last?.status?.phase !== 'Failed') return undefined;
  const { completionTime, message } = last.status;
  const at = isFuture(completionTime, now) ? last.metadata.creationTimestamp : completionTime;
  const isBefore = !isFuture(goodAt, now) && Date.parse(goodAt ?? '') > Date.parse(at ?? '');
  return isBefore ? undefined : { name: last.metadata.name, at, message };
}

/** Milliseconds. Kubernetes keeps Events for an hour. */
const recent = 15 * 60_000;

/** The newest Warnings about objects of the cluster. */
function recentWarnings(
  { cluster, warnings, backups = [], restores, users = [] }: StatusFacts,
  now: number,
): StatusView['warnings'] {
  const others = [...backups, ...restores, ...users].map(({ metadata }) => metadata.name);
  const jobNames = backups.flatMap(({ status }) => status?.jobName ?? []);
  const isOurs = ({ involvedObject: { name = '' } = {} }: EventWarning): boolean =>
    isAbout(cluster, name, [...others, ...jobNames]) || jobNames.some((job) => name.startsWith(`${job}-`));
  return warnings
    .filter(isOurs)
    .map(({ involvedObject, reason, message, ...event }) => {
      const at = event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime;
      return {
        object: `${involvedObject?.kind} ${involvedObject?.name}`,
        reason,
        message,
        at: isFuture(at, now) ? event.metadata.creationTimestamp : at,
      };
    })
    .filter(({ at }) => now - Date.parse(at ?? '') < recent)
    .sort((a, b) => Date.parse(b.at ?? '') - Date.parse(a.at ?? ''))
    .slice(0, 3);
}
