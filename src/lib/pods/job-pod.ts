// What a Job of the reconciler has of its resource, its schedule, its cluster and the pods beside which it runs. The reconciler makes
// its Jobs so, and the constructs check at synthesis what it will make.
import type { BackupScheduleSpec, EtcdBackupSpec, EtcdClusterSpec, EtcdRestoreSpec } from '../../resource/types.ts';
import type { BackupPodSpec } from '../backup-pod.ts';
import type { Labels } from '../manifest.ts';
import { given, withJobFields } from './pod-fields.ts';

/** How the Job of an EtcdBackup or an EtcdRestore runs. */
export type JobSettings = Pick<EtcdRestoreSpec, Exclude<keyof EtcdRestoreSpec & keyof EtcdBackupSpec, 'clusterName'>>;

/** What a Job has of the pods beside which it runs. */
export interface NeighborTemplate {
  readonly spec: Pick<
    BackupScheduleSpec,
    'schedulerName' | 'runtimeClassName' | 'hostAliases' | 'dnsPolicy' | 'dnsConfig' | 'securityContext'
  > &
    Pick<BackupPodSpec, 'imagePullSecrets' | 'nodeSelector' | 'priorityClassName'> & {
      readonly tolerations?: readonly object[];
      readonly affinity?: { readonly nodeAffinity?: object };
      readonly initContainers?: readonly { readonly name: string; readonly imagePullPolicy?: string }[];
    };
}

/** The schedule is the one whose settings the Job uses. */
export interface JobSources {
  /** What the EtcdBackup, the EtcdRestore or the origin says itself: it comes after the others. */
  readonly own?: JobSettings | undefined;
  readonly schedule?: BackupScheduleSpec | undefined;
  readonly cluster?: EtcdClusterSpec | undefined;
  /** Pod template of the members, or of the reconciler. */
  readonly template?: NeighborTemplate | undefined;
}

/** The schedule whose settings the backups of operations use. */
export const ownSchedule = ({ backup }: EtcdClusterSpec): BackupScheduleSpec | undefined =>
  backup?.schedules?.find(({ name }, index) =>
    backup.schedule === undefined ? index === 0 : name === backup.schedule,
  );

/** A Job without a schedule has the pods of the one whose settings the backups of operations use. */
export const jobSources = (
  schedule: BackupScheduleSpec | undefined,
  cluster: EtcdClusterSpec | undefined,
  template: NeighborTemplate | undefined,
  own?: JobSettings,
): JobSources => ({ schedule: schedule ?? (cluster && ownSchedule(cluster)), cluster, template, own });

/** The fields of the schedule, and instead of them those of the EtcdBackup or EtcdRestore. What has names is added. */
function fieldsOf({ schedule, own = {} }: JobSources): Omit<JobSettings, 'overrides'> {
  const both = <Name extends 'container' | 'podLabels' | 'podAnnotations'>(name: Name) =>
    (schedule?.[name] || own[name]) && { [name]: { ...schedule?.[name], ...own[name] } };
  const added = { ...both('container'), ...both('podLabels'), ...both('podAnnotations') };
  return { ...given({ ...schedule }), ...given(own), ...added };
}

const weekSeconds = 7 * 24 * 3600;

/**
 * What the pod of every Job has: how its images are pulled, and where it runs. A schedule that says nothing follows the pods of the
 * template.
 *
 * @param labels those by which it is found
 * @param variables those of the reconciler: it gets what it does not have itself
 */
export function jobPodOf(
  sources: JobSources,
  labels: Labels,
  variables: readonly { readonly name: string }[] = [],
): Pick<BackupPodSpec, 'labels' | 'env'> & Partial<BackupPodSpec> {
  const { imagePullPolicy, container, ...fields } = fieldsOf(sources);
  const spec = sources.template?.spec;
  return given({
    labels: jobLabelsOf(sources, labels),
    env: variables.filter(({ name }) => !container?.env?.some((each) => each.name === name)),
    imagePullPolicy,
    imagePullSecrets: fields.imagePullSecrets ?? spec?.imagePullSecrets,
    nodeSelector: fields.nodeSelector ?? spec?.nodeSelector,
    tolerations: fields.tolerations ?? spec?.tolerations,
    priorityClassName: fields.priorityClassName ?? spec?.priorityClassName,
  });
}

/**
 * Returns the spec of a Job with what its resource or its schedule says, else with what the pods of the template have. Of their affinity it gets
 * the nodes alone: it need not keep away from the members.
 */
export function withFields(job: object, sources: JobSources): object {
  const { affinity, schedulerName, runtimeClassName, hostAliases, dnsPolicy, dnsConfig, securityContext } =
    sources.template?.spec ?? {};
  const nodeAffinity = affinity?.nodeAffinity;
  const following = {
    affinity: nodeAffinity && { nodeAffinity },
    ...{ schedulerName, runtimeClassName, hostAliases, dnsPolicy, dnsConfig },
    // A store may be a volume with many files.
    securityContext: securityContext && { fsGroupChangePolicy: 'OnRootMismatch', ...securityContext },
  };
  return withJobFields(job, {
    ttlSecondsAfterFinished: weekSeconds,
    ...given(following),
    ...fieldsOf(sources),
  });
}

/** Labels and annotations of a Job, and of its pods: those by which it is found come last. */
export const jobLabelsOf = ({ own, schedule, cluster }: JobSources, found: Labels): Labels => ({
  ...cluster?.labels,
  ...schedule?.labels,
  ...own?.labels,
  ...found,
});
export const jobAnnotationsOf = ({ own, schedule, cluster }: JobSources, found: Labels = {}): Labels => ({
  ...cluster?.annotations,
  ...schedule?.annotations,
  ...own?.annotations,
  ...found,
});
