import { ApiObject, Chart, Duration, Lazy } from 'cdk8s';
import { Construct } from 'constructs';
import { agentImage } from './agent-image';
import { type BackupJobSpec, backupJob } from './backup-pod';
import { podResources } from './backup-resources';
import { scheduleProblems } from './backup-schedule-problems';
import type { BackupStore } from './backup-store';
import { durationText, milliseconds } from './duration';
import { endpointUrl } from './endpoints';
import {
  type AddStoreOptions,
  defaultActiveDeadline,
  type EtcdBackupScheduleProps,
} from './etcd-backup-schedule-props';
import type { StoreDefinition } from './store-definition';

/**
 * Backs up an etcd on a schedule: a CronJob, and a ServiceAccount without rights. It works on any etcd.
 *
 * A run by hand: `kubectl create job --from=cronjob/NAME JOB`.
 */
export class EtcdBackupSchedule extends Construct {
  /** The name of the CronJob. */
  readonly cronJobName: string;
  private readonly props: EtcdBackupScheduleProps;
  private readonly labels: Record<string, string>;
  private readonly serviceAccount?: ApiObject;
  private readonly stores: StoreDefinition[] = [];

  constructor(scope: Construct, id: string, props: EtcdBackupScheduleProps) {
    super(scope, id);
    this.props = props;
    this.cronJobName = props.name ?? `${props.cluster}-${id}`;
    this.labels = {
      'app.kubernetes.io/name': 'etcd-backup',
      'app.kubernetes.io/instance': this.cronJobName,
      'app.kubernetes.io/component': 'backup',
      'app.kubernetes.io/part-of': props.cluster,
      'app.kubernetes.io/managed-by': 'cdk8s',
      ...props.labels,
    };
    this.serviceAccount = props.serviceAccountName === undefined ? this.createServiceAccount() : undefined;
    this.createCronJob();
    this.addStore(props.store, { retention: props.retention });
    this.node.addValidation({ validate: () => this.problems() });
  }

  /** Stores every backup here as well. Each store has its own retention. */
  addStore(store: BackupStore, options: AddStoreOptions = {}): void {
    const definition = store._definition();
    this.stores.push({ ...definition, pod: { ...definition.pod, retention: options.retention?._policy() } });
    for (const [name, value] of Object.entries(definition.serviceAccountAnnotations ?? {})) {
      this.serviceAccount?.metadata.addAnnotation(name, value);
    }
  }

  private createServiceAccount(): ApiObject {
    return new ApiObject(this, 'ServiceAccount', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: this.cronJobName, labels: this.labels },
      automountServiceAccountToken: false,
    });
  }

  private createCronJob(): void {
    const { props } = this;
    new ApiObject(this, 'CronJob', {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: this.cronJobName, labels: this.labels },
      spec: {
        schedule: props.schedule.expressionString,
        timeZone: props.timeZone,
        suspend: props.suspend,
        concurrencyPolicy: 'Forbid',
        startingDeadlineSeconds: seconds(props.startingDeadline ?? Duration.hours(1)),
        successfulJobsHistoryLimit: props.successfulJobsHistoryLimit ?? 3,
        failedJobsHistoryLimit: props.failedJobsHistoryLimit ?? 3,
        jobTemplate: {
          metadata: { labels: this.labels },
          // Stores are added until synthesis.
          spec: Lazy.any({ produce: () => backupJob(this.jobSpec()) }),
        },
      },
    });
  }

  private jobSpec(): BackupJobSpec {
    const { props } = this;
    return {
      cluster: props.cluster,
      endpoints: props.endpoints.map((endpoint) => endpointUrl(endpoint, props.tls !== undefined)),
      tls: props.tls?._pod(),
      auth: props.auth?._files(),
      stores: this.stores.map(({ pod }) => pod),
      trigger: 'schedule',
      compression: props.compression,
      ageRecipients: props.encryption?._recipients(),
      verify: props.verify,
      fileName: props.fileName,
      fileNameTimeZone: props.fileNameTimeZone,
      dialTimeout: props.dialTimeout && durationText(props.dialTimeout),
      timeout: props.timeout && durationText(props.timeout),
      image: props.image ?? agentImage,
      imagePullPolicy: props.imagePullPolicy,
      imagePullSecrets: props.imagePullSecrets?.map((name) => ({ name })),
      serviceAccountName: props.serviceAccountName ?? this.cronJobName,
      resources: podResources(props.resources ?? {}),
      labels: this.labels,
      nodeSelector: props.nodeSelector,
      tolerations: props.tolerations,
      priorityClassName: props.priorityClassName,
      backoffLimit: props.retries ?? 3,
      activeDeadlineSeconds: seconds(props.activeDeadline ?? defaultActiveDeadline),
    };
  }

  private problems(): string[] {
    return [...scheduleProblems(this.cronJobName, this.props, this.stores), ...this.namesakeProblems()];
  }

  private namesakeProblems(): string[] {
    const isNamesake = (other: unknown) =>
      other !== this && other instanceof EtcdBackupSchedule && other.cronJobName === this.cronJobName;
    if (!Chart.of(this).node.findAll().some(isNamesake)) return [];
    return [`name: another backup schedule of this chart is called '${this.cronJobName}' too; give each its own name`];
  }
}

function seconds(duration: Duration): number {
  return milliseconds(duration) / 1_000;
}
