import { Duration } from 'cdk8s';
import { agentImage } from '../lib/agent-image';
import type { BackupPodStore } from '../lib/backup-pod';
import { durationText, milliseconds, parseDuration, roundProblem } from '../lib/duration';
import { labelProblems } from '../lib/labels';
import { agentImageProblem, podProblems } from '../lib/pod-problems';
import { defaults } from '../resource/defaults';
import type { StoreDefinition } from '../stores/store-definition';
import { placeOf } from '../stores/store-place';
import { cronProblem } from '../validation/cron';
import { endpointsProblems } from '../validation/endpoints';
import { clusterNameProblem, nameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import { timeZoneProblem } from '../validation/times';
import { encryptionProblems } from './encryption';
import type { EtcdBackupScheduleProps } from './etcd-backup-schedule-props';
import type { ScheduleSpec } from './schedule-manifests';
import { fileNameProblem } from './snapshot-file-name';

/**
 * Problems with the properties of a backup schedule, each with its remedy. Those that follow from the name of a `misnamed` cluster are
 * left out, because the cluster reports its name.
 */
export function scheduleProblems(
  props: EtcdBackupScheduleProps,
  stores: readonly StoreDefinition[],
  misnamed: boolean,
): string[] {
  return [
    ...(misnamed ? [] : etcdProblems(props)),
    ...(props.auth?._problems() ?? []),
    ...storesProblems(stores),
    ...problemsOf(ownImageProblem(props, stores)),
    ...problemsOf(agentImageProblem(props.image)),
    ...podProblems(props),
    ...labelProblems('labels', props.labels),
    ...identityProblems(stores),
  ];
}

/** Problems with a schedule that its schema does not report, whoever wrote it. The name of the CronJob is undefined if another name is to blame. */
export function specProblems(cronJobName: string | undefined, spec: ScheduleSpec): string[] {
  return problemsOf(
    cronJobName === undefined ? undefined : cronJobNameProblem(cronJobName),
    ...timeProblems(spec),
    ...encryptionProblems(spec.encryption),
    fileNameProblem(spec),
    ...samePlaceProblems(spec.stores),
    unverifiedRetentionProblem(spec),
    unreadableProblem(spec),
  );
}

function etcdProblems({ cluster, endpoints, tls, _clientEndpoints }: EtcdBackupScheduleProps): string[] {
  // Those of an EtcdCluster follow from its size, which it reports itself.
  const isOwn = _clientEndpoints !== undefined && endpoints.length === 0;
  return [
    ...problemsOf(clusterNameProblem('cluster', cluster)),
    ...(isOwn ? [] : endpointsProblems(endpoints, tls !== undefined)),
    ...(tls?._problems() ?? []),
  ];
}

/** Kubernetes' own limit: the names of a CronJob's Jobs are 11 characters longer than its own. */
const longestCronJobName = 52;

function cronJobNameProblem(name: string): string | undefined {
  const problem = nameProblem('name', name);
  if (problem || name.length <= longestCronJobName) return problem;
  return `name: '${name}', the name of the CronJob, has ${name.length} characters; use at most ${longestCronJobName}: shorten the name of the schedule or of the cluster`;
}

function timeProblems(spec: ScheduleSpec): string[] {
  const {
    timeZone,
    fileNameTimeZone,
    startingDeadline,
    activeDeadline = defaults.BackupScheduleSpec.activeDeadline,
  } = spec;
  const timeout = durationOf(spec.timeout);
  const deadline = durationOf(activeDeadline)!;
  const cron = cronProblem(spec.cron);
  return problemsOf(
    cron && `schedule: ${cron}`,
    timeZone === undefined ? undefined : timeZoneProblem('timeZone', timeZone),
    fileNameTimeZone === undefined ? undefined : timeZoneProblem('fileNameTimeZone', fileNameTimeZone),
    startingDeadlineProblem(durationOf(startingDeadline)),
    roundProblem('activeDeadline', deadline),
    activeDeadlineProblem(deadline, timeout),
  );
}

/** A text that is not a duration is none: the schema reports it. */
const durationOf = (text: string | undefined): Duration | undefined =>
  text === undefined ? undefined : (parseDuration(text) ?? Duration.millis(0));

function startingDeadlineProblem(deadline: Duration | undefined): string | undefined {
  if (!deadline || milliseconds(deadline) === 0 || milliseconds(deadline) > 10_000)
    return roundProblem('startingDeadline', deadline);
  return `startingDeadline: ${durationText(deadline)} skips runs, because the CronJob controller checks only every 10 seconds; give more, such as 1h`;
}

function activeDeadlineProblem(deadline: Duration, timeout: Duration | undefined): string | undefined {
  if (!timeout || !milliseconds(deadline) || milliseconds(timeout) < milliseconds(deadline)) return undefined;
  return `timeout: ${durationText(timeout)} is not below activeDeadline (${durationText(deadline)}), which ends the run without an error message; raise activeDeadline or lower timeout`;
}

function samePlaceProblems(stores: readonly BackupPodStore[]): string[] {
  const places = stores.map(placeOf);
  return places.flatMap((place, index) => {
    const first = places.indexOf(place);
    if (first === index) return [];
    return [
      `${storeName(index)}: is the same place as an earlier store, ${place}; remove one, or give it a folder of its own`,
    ];
  });
}

const storesProblems = (stores: readonly StoreDefinition[]): string[] =>
  stores.flatMap(({ pod, problems }, index) => {
    const isFirst = stores.findIndex((store) => placeOf(store.pod) === placeOf(pod)) === index;
    return isFirst ? problems.map((problem) => `${storeName(index)}: ${problem}`) : [];
  });

/** Returns the name of a store in problems. */
export const storeName = (index: number): string => (index === 0 ? 'store' : `store ${index + 1}`);

function ownImageProblem({ image }: EtcdBackupScheduleProps, stores: readonly StoreDefinition[]): string | undefined {
  const index = stores.findIndex(({ pod }) => pod.command);
  if (index === -1 || (image !== undefined && image !== agentImage)) return undefined;
  return `image: ${storeName(index)} runs executables that the agent's own image does not contain; give your own image with these and the agent`;
}

function unverifiedRetentionProblem({ verify, stores }: ScheduleSpec): string | undefined {
  if (verify !== 'stream' || !stores.some(({ retention }) => retention)) return undefined;
  return 'verify: with stream no backup counts as verified, so retention never deletes any; choose read, or remove retention';
}

function unreadableProblem({ verify, encryption }: ScheduleSpec): string | undefined {
  if (verify !== 'open' || !encryption) return undefined;
  return 'verify: open must decrypt the backup, but the pod has no key; choose read, and run `etcd-agent verify --level=open` where the key is';
}

/** A pod has only one identity, so all stores must use the same one. */
function identityProblems(stores: readonly StoreDefinition[]): string[] {
  const annotations = stores.flatMap((store) => Object.entries(store.serviceAccountAnnotations ?? {}));
  const values = new Map(annotations);
  const conflict = annotations.find(([name, value]) => values.get(name) !== value);
  if (!conflict) return [];
  return [
    `stores: need different values of the ServiceAccount's annotation '${conflict[0]}', but a pod has only one identity; use one schedule for each`,
  ];
}
