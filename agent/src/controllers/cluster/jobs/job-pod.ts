import type { BackupPodSpec } from '../../../../../src/lib/backup-pod.ts';
import type { Labels } from '../../../../../src/lib/manifest.ts';
import { given, withJobFields } from '../../../../../src/lib/pods/pod-fields.ts';
import type { BackupScheduleSpec, EtcdClusterSpec } from '../../../../../src/resource/types.ts';
import type { PodTemplate } from '../../../kube/objects.ts';

/** What a Job of the reconciler has of the schedule whose settings it uses, of the cluster, and of the pods beside which it runs. */
export interface JobSources {
  readonly schedule?: BackupScheduleSpec | undefined;
  readonly cluster?: EtcdClusterSpec | undefined;
  /** Pod template of the members, or of the reconciler. */
  readonly template?: PodTemplate | undefined;
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
  template: PodTemplate | undefined,
): JobSources => ({ schedule: schedule ?? (cluster && ownSchedule(cluster)), cluster, template });

const weekSeconds = 7 * 24 * 3600;

/** How the images of a Job are pulled, and where it runs: a schedule that says nothing follows the pods of the template. */
export function jobPlace({ schedule, template }: JobSources): Partial<BackupPodSpec> {
  const imagePullSecrets = schedule?.imagePullSecrets ?? template?.spec.imagePullSecrets;
  const nodeSelector = schedule?.nodeSelector ?? template?.spec.nodeSelector;
  const tolerations = schedule?.tolerations ?? template?.spec.tolerations;
  const priorityClassName = schedule?.priorityClassName ?? template?.spec.priorityClassName;
  const imagePullPolicy = schedule?.imagePullPolicy;
  return {
    ...(imagePullPolicy && { imagePullPolicy }),
    ...(imagePullSecrets && { imagePullSecrets }),
    ...(nodeSelector && { nodeSelector }),
    ...(tolerations && { tolerations }),
    ...(priorityClassName && { priorityClassName }),
  };
}

/** Variables of the reconciler, without those that the schedule has itself. */
export const furtherVariables = (
  variables: readonly { readonly name: string }[],
  { schedule }: JobSources,
): readonly object[] => variables.filter(({ name }) => !schedule?.container?.env?.some((each) => each.name === name));

/**
 * Returns the spec of a Job with what its schedule says, else with what the pods of the template have. Of their affinity it gets
 * the nodes alone: it need not keep away from the members.
 */
export function withFields(job: object, { schedule, template }: JobSources): object {
  const { affinity, schedulerName, runtimeClassName, hostAliases, dnsPolicy, dnsConfig, securityContext } =
    template?.spec ?? {};
  const nodeAffinity = affinity?.nodeAffinity;
  const following = {
    ...(nodeAffinity && { affinity: { nodeAffinity } }),
    ...{ schedulerName, runtimeClassName, hostAliases, dnsPolicy, dnsConfig },
    // A store may be a volume with many files.
    ...(securityContext && { securityContext: { fsGroupChangePolicy: 'OnRootMismatch', ...securityContext } }),
  };
  return withJobFields(job, {
    ttlSecondsAfterFinished: weekSeconds,
    ...given(following),
    ...given({ ...schedule }),
  });
}

/** Labels and annotations of a Job, and of its pods: those by which it is found come last. */
export const jobLabelsOf = ({ schedule, cluster }: JobSources, own: Labels): Labels => ({
  ...cluster?.labels,
  ...schedule?.labels,
  ...own,
});
export const jobAnnotationsOf = ({ schedule, cluster }: JobSources, own: Labels = {}): Labels => ({
  ...cluster?.annotations,
  ...schedule?.annotations,
  ...own,
});
