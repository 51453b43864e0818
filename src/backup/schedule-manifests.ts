import { serviceAccountOf } from '../etcd/schedule-names';
import { agentImage } from '../lib/agent-image';
import {
  type BackupJobSpec,
  type BackupPodStore,
  backupJob,
  completeResources,
  defaultResources,
} from '../lib/backup-pod';
import { milliseconds, parseDuration } from '../lib/duration';
import { protection } from '../lib/gitops';
import { annotated } from '../lib/labels';
import type { Labels } from '../lib/manifest';
import { withJobFields } from '../lib/pods/pod-fields';
import { overridden, podFieldProblems } from '../overrides/overrides';
import { defaults } from '../resource/defaults';
import type { BackupOverrideSpec, BackupScheduleSpec, JobOverrideSpec, OverrideSpec } from '../resource/types';
import { fileNameWithoutEnding } from './snapshot-file-name';

/** A schedule as its resource has it. On etcd's own node, stores may be directories of the node. */
export interface ScheduleSpec extends Omit<BackupScheduleSpec, 'stores' | 'overrides'> {
  readonly stores: readonly BackupPodStore[];
  /** Also those of its cluster. */
  readonly overrides?: readonly (OverrideSpec | BackupOverrideSpec | JobOverrideSpec)[];
}

/** What a schedule backs up, and the name and labels of its objects. */
export interface ScheduleTarget
  extends Pick<BackupJobSpec, 'cluster' | 'endpoints' | 'tls' | 'auth' | 'record' | 'host' | 'near'> {
  readonly cronJobName: string;
  readonly labels: Labels;
  /** Those of its cluster. */
  readonly annotations?: Labels;
  /** True if the ServiceAccount must outlive its manifests: a final backup uses it after they have gone. */
  readonly protect?: boolean;
}

/** What a cluster gives to all its objects. */
export interface ClusterMetadata {
  readonly labels?: Labels;
  readonly annotations?: Labels;
}

/** Returns the labels of the objects and pods of a schedule: `further` are those of its cluster, and its own. */
export const scheduleLabels = (cluster: string, cronJobName: string, ...further: (Labels | undefined)[]): Labels => ({
  'app.kubernetes.io/managed-by': 'cdk8s',
  ...Object.assign({}, ...further),
  'app.kubernetes.io/name': 'etcd-backup',
  'app.kubernetes.io/instance': cronJobName,
  'app.kubernetes.io/component': 'backup',
  'app.kubernetes.io/part-of': cluster,
});

/** An object of a schedule as plain data. */
interface ScheduleObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Labels };
  readonly spec?: object;
}

/** Returns the CronJob of a schedule, and its ServiceAccount unless it has an existing one, by their kinds. */
export function scheduleObjects(spec: ScheduleSpec, target: ScheduleTarget): ReadonlyMap<string, ScheduleObject> {
  return overridden(withoutOverrides(spec, target), spec.overrides).manifests;
}

/** Problems with the pods of a schedule, and with the last of its overrides: those that are its own. */
export function finishedProblems(
  spec: ScheduleSpec,
  own: ScheduleSpec['overrides'] = [],
  target: ScheduleTarget,
): readonly string[] {
  const all = spec.overrides ?? [];
  const others = { ...spec, overrides: all.slice(0, all.length - own.length) };
  const isOnNode = target.host !== undefined;
  return [
    ...podFieldProblems(withoutOverrides(spec, target).values(), { target: 'BackupPods', isOnNode }),
    ...overridden(scheduleObjects(others, target), own, {
      ...{ targets: ['BackupPods', 'CronJobs', 'ServiceAccounts'], isOnNode, hasJobs: target.record !== undefined },
    }).problems,
  ];
}

function withoutOverrides(spec: ScheduleSpec, target: ScheduleTarget): Map<string, ScheduleObject> {
  const account = scheduleAccount(spec, target);
  const cronJob = scheduleCronJob(spec, target);
  return new Map([...(account ? [account] : []), cronJob].map((object) => [object.kind, object]));
}

function scheduleAccount(spec: ScheduleSpec, { cronJobName, labels, annotations: ofCluster, protect }: ScheduleTarget) {
  if (spec.serviceAccountName !== undefined) return undefined;
  const own = { ...ofCluster, ...spec.annotations, ...spec.serviceAccountAnnotations };
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: cronJobName, labels, ...annotated({ ...own, ...(protect && protection) }) },
    automountServiceAccountToken: false,
  };
}

const usual = defaults.BackupScheduleSpec;

function scheduleCronJob(spec: ScheduleSpec, target: ScheduleTarget) {
  const { cronJobName, labels, host } = target;
  const annotations = annotated({ ...target.annotations, ...spec.annotations });
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: cronJobName, labels, ...annotations },
    spec: {
      schedule: spec.cron,
      timeZone: spec.timeZone,
      suspend: spec.suspend,
      // The run of a failed control-plane node never ends for Kubernetes, so the next run must replace it.
      concurrencyPolicy: host ? 'Replace' : 'Forbid',
      startingDeadlineSeconds: seconds(spec.startingDeadline ?? usual.startingDeadline),
      successfulJobsHistoryLimit: spec.successfulJobsHistoryLimit ?? usual.successfulJobsHistoryLimit,
      failedJobsHistoryLimit: spec.failedJobsHistoryLimit ?? usual.failedJobsHistoryLimit,
      jobTemplate: {
        metadata: { labels, ...annotations },
        spec: withJobFields(backupJob(scheduleJob(spec, target)), spec),
      },
    },
  };
}

export function scheduleJob(spec: ScheduleSpec, { cronJobName, ...target }: ScheduleTarget): BackupJobSpec {
  const { compression, verify, timeout, dialTimeout, fileNameTimeZone } = spec;
  return {
    ...target,
    stores: spec.stores,
    trigger: 'schedule',
    ...{ compression, verify, timeout, dialTimeout, fileNameTimeZone },
    ageRecipients: spec.encryption?.age.recipients,
    fileName: fileNameWithoutEnding(spec.fileName),
    image: spec.image ?? agentImage,
    imagePullPolicy: spec.imagePullPolicy,
    imagePullSecrets: spec.imagePullSecrets,
    serviceAccountName: serviceAccountOf(target.cluster, { ...spec, cronJobName }),
    resources: completeResources(spec.resources ?? {}, defaultResources({ opens: verify === 'open' })),
    nodeSelector: spec.nodeSelector,
    tolerations: spec.tolerations,
    priorityClassName: spec.priorityClassName,
    backoffLimit: spec.retries ?? usual.retries,
    activeDeadlineSeconds: seconds(spec.activeDeadline ?? usual.activeDeadline),
  };
}

/** A text that is not a duration is reported elsewhere. */
function seconds(text: string): number {
  const duration = parseDuration(text);
  return duration ? milliseconds(duration) / 1_000 : 0;
}
