import type { Duration } from 'cdk8s';
import { milliseconds } from '../lib/duration';
import type { ImagePullPolicy } from '../lib/image-pull-policy';
import { type ContainerOptions, type PodOptions, podFieldsOf } from '../lib/pods/pod-options';
import { type ObjectOverride, overrideSpecs } from '../overrides/overrides';
import { enumText } from '../resource/enum-text';
import { type INamed, nameOf } from '../validation/named';

/** Sets what the Jobs of backups and restores have. */
export interface JobOptions extends PodOptions {
  /**
   * Sets when the node pulls the image.
   * @default - Kubernetes' default: IfNotPresent, or Always for the tag `latest`
   */
  readonly imagePullPolicy?: ImagePullPolicy;
  /**
   * Names the Secrets with registry credentials.
   * @default - none
   */
  readonly imagePullSecrets?: (string | INamed)[];
  /**
   * Sets what the container of the agent has, such as the environment variables of a proxy.
   * @default - only the library's own
   */
  readonly container?: ContainerOptions;
  /**
   * Sets how long after its end a Job is deleted: at least 10 minutes.
   * @default - a week; for the runs of a schedule the limits of its history decide
   */
  readonly ttlAfterFinished?: Duration;
  /**
   * Lists changes of objects that no other property makes: those of `OverrideTarget.BACKUP_PODS` change the pods of the
   * Jobs, and a schedule can change its CronJob and its ServiceAccount too. They are made one after the other, after those
   * of the `EtcdCluster`.
   * @default - none
   */
  readonly overrides?: ObjectOverride[];
}

/** The fields of a resource that its Jobs have. */
export const jobFieldsOf = <OverrideSpec>(props: JobOptions) => ({
  imagePullPolicy: enumText(props.imagePullPolicy),
  imagePullSecrets: props.imagePullSecrets?.map((secret) => ({ name: nameOf(secret) })),
  ...podFieldsOf(props),
  container: props.container,
  ttlSecondsAfterFinished: props.ttlAfterFinished && milliseconds(props.ttlAfterFinished) / 1_000,
  overrides: overrideSpecs<OverrideSpec>(props.overrides),
});
