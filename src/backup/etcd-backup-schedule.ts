import { ApiObject, Duration, Lazy } from 'cdk8s';
import { Construct } from 'constructs';
import { agentImage } from '../lib/agent-image';
import { type BackupJobSpec, backupJob, completeResources, defaultResources } from '../lib/backup-pod';
import { durationText, milliseconds } from '../lib/duration';
import { Memo } from '../lib/memo';
import { namesakeProblems, takeName } from '../lib/name-registry';
import { tellIfUnreleased } from '../lib/notices';
import { enumText } from '../resource/enum-text';
import type { BackupScheduleSpec } from '../resource/types';
import type { BackupStore } from '../stores/backup-store';
import { offHostProblem } from '../stores/host-path';
import type { StoreDefinition } from '../stores/store-definition';
import { futureConstruct, requireFreeId } from '../validation/construct-id';
import { derivedName } from '../validation/derived-name';
import { endpointUrl } from '../validation/endpoints';
import { nameOf } from '../validation/named';
import { nameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import { addStoreTypes, backupMonitoringTypes, scheduleTypes } from '../validation/property-types';
import { requireTypes } from '../validation/type-checks';
import { addBackupFolder, type BackupFolder, sharedFolderProblems } from './backup-folders';
import type { BackupMonitoringOptions } from './backup-monitoring-options';
import { givenResources } from './backup-resources';
import { scheduleProblems, storeName } from './backup-schedule-problems';
import { EtcdBackupMonitoring } from './etcd-backup-monitoring';
import {
  type AddStoreOptions,
  defaultActiveDeadline,
  type EtcdBackupScheduleProps,
} from './etcd-backup-schedule-props';
import { isEtcdCluster, isMisnamed } from './etcd-cluster-checks';
import type { Retention } from './retention';
import { fileNameWithoutEnding } from './snapshot-file-name';
import { VerificationLevel } from './verification-level';

/**
 * Backs up an etcd cluster on a schedule, with a CronJob and a ServiceAccount without permissions. It works with any
 * etcd cluster.
 *
 * Start a run by hand with `kubectl create job --from=cronjob/NAME JOB`.
 */
export class EtcdBackupSchedule extends Construct {
  /** Names the CronJob. */
  readonly cronJobName: string;
  /** This CronJob takes the backups. */
  readonly cronJob: ApiObject;
  /** The pods run as this ServiceAccount. It is undefined if `serviceAccountName` names an existing one. */
  readonly serviceAccount?: ApiObject;
  private readonly props: EtcdBackupScheduleProps;
  /** @internal */
  readonly _labels: Record<string, string>;
  /** @internal */
  readonly _stores: StoreDefinition[] = [];
  private readonly folders: BackupFolder[] = [];
  private exporter?: EtcdBackupMonitoring;
  private readonly propertyProblems = new Memo<readonly string[]>();

  /**
   * Creates the CronJob and what it needs.
   *
   * @param scope The chart, or a construct inside of one.
   * @param id An id that is unique within `scope`. By default, the CronJob is named `<cluster>-<id>`.
   * @param props The etcd to back up, the store and the schedule.
   */
  constructor(scope: Construct, id: string, props: EtcdBackupScheduleProps) {
    super(scope, requireFreeId(scope, id));
    requireTypes(this, props, scheduleTypes);
    this.props = props;
    this.cronJobName = props.name ?? derivedName(`${props.cluster}-${id}`);
    this._labels = {
      'app.kubernetes.io/name': 'etcd-backup',
      'app.kubernetes.io/instance': this.cronJobName,
      'app.kubernetes.io/component': 'backup',
      'app.kubernetes.io/part-of': props.cluster,
      'app.kubernetes.io/managed-by': 'cdk8s',
      ...props.labels,
    };
    this.serviceAccount = props.serviceAccountName === undefined ? this.createServiceAccount() : undefined;
    this.cronJob = this.createCronJob();
    this.node.defaultChild = this.cronJob;
    this.addStore(props.store, { retention: props.retention });
    takeName(this, 'CronJob', this.cronJobName);
    tellIfUnreleased(this, props.image ?? agentImage);
    this.node.addValidation({ validate: () => this.problems() });
  }

  /**
   * Stores every backup in a further store. Each store has its own retention.
   *
   * @param store The store.
   * @param options The retention of the snapshots in it.
   * @throws if the store or the options have the wrong type
   */
  addStore(store: BackupStore, options: AddStoreOptions = {}): void {
    requireTypes(this, { ...options, store }, addStoreTypes);
    const definition = store._definition();
    const { retention } = options;
    const problems = [
      ...problemsOf(this.props._host ? undefined : offHostProblem(definition)),
      ...(retention?._problems().map((problem) => `retention: ${problem}`) ?? []),
    ];
    this._stores.push({
      ...definition,
      pod: { ...definition.pod, retention: retention?._policy() },
      problems: [...definition.problems, ...problems],
    });
    this.addFolder(definition, retention);
    for (const [name, value] of Object.entries(definition.serviceAccountAnnotations ?? {})) {
      this.serviceAccount?.metadata.addAnnotation(name, value);
    }
  }

  /**
   * Adds what Prometheus needs to monitor the backups of an etcd that has no reconciler: an exporter, which reads the
   * stores every five minutes, and what scrapes it; who may connect to it; alerts; and a dashboard. The exporter uses the
   * image, the ServiceAccount and the credentials for the stores that the backups use, and has no access to etcd.
   * The pods of the backups prefer its node if a store is a claim, because many volumes can be mounted on one node only. It
   * leaves out stores that are directories of the node.
   *
   * @param options What differs from the defaults.
   * @throws for a schedule of an `EtcdCluster`, whose own monitoring reports each run of its schedules
   */
  addMonitoring(options: BackupMonitoringOptions = {}): EtcdBackupMonitoring {
    requireTypes(futureConstruct(this, 'Monitoring'), options, backupMonitoringTypes);
    const { scope } = this.node;
    if (isEtcdCluster(scope)) {
      throw new Error(
        `${this.node.path}: addMonitoring: the monitoring of the EtcdCluster '${scope.clusterName}' covers its schedules; call addMonitoring of the cluster instead`,
      );
    }
    const { cluster, schedule } = this.props;
    const monitored = {
      ...{ cluster, cronJobName: this.cronJobName, schedule: schedule.expressionString },
      pod: () => this.jobSpec(),
    };
    this.exporter = EtcdBackupMonitoring._of(this, monitored, this._labels, options);
    return this.exporter;
  }

  /**
   * Returns the settings that the cluster's other backups share with this schedule. They are complete only after all
   * stores have been added.
   * @internal
   */
  _spec(): BackupScheduleSpec {
    const { props, cronJobName } = this;
    const name = derivedName(this.node.id);
    return {
      name,
      cronJobName: cronJobName === `${props.cluster}-${name}` ? undefined : cronJobName,
      cron: props.schedule.expressionString,
      timeZone: props.timeZone,
      stores: this._stores.map(({ pod }) => pod),
      compression: enumText(props.compression),
      encryption: props.encryption?._spec(),
      verify: enumText(props.verify),
      dialTimeout: props.dialTimeout && durationText(props.dialTimeout),
      timeout: props.timeout && durationText(props.timeout),
      serviceAccountName: this.serviceAccountName(),
      image: props.image,
      resources: givenResources(props.resources),
    };
  }

  private addFolder({ place }: StoreDefinition, retention: Retention | undefined): void {
    const folder: BackupFolder = {
      property: storeName(this._stores.length - 1),
      place,
      cluster: this.props.cluster,
      endpoints: this.props._clientEndpoints ?? this.props.endpoints,
      retention: JSON.stringify(retention?._policy() ?? 'all'),
    };
    this.folders.push(folder);
    addBackupFolder(this, folder);
  }

  private serviceAccountName(): string {
    return nameOf(this.props.serviceAccountName) ?? this.cronJobName;
  }

  private createServiceAccount(): ApiObject {
    takeName(this, 'ServiceAccount', this.cronJobName);
    return new ApiObject(this, 'ServiceAccount', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: this.cronJobName, labels: this._labels },
      automountServiceAccountToken: false,
    });
  }

  private createCronJob(): ApiObject {
    const { props } = this;
    return new ApiObject(this, 'CronJob', {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: this.cronJobName, labels: this._labels },
      spec: {
        schedule: props.schedule.expressionString,
        timeZone: props.timeZone,
        suspend: props.suspend,
        // The run of a failed control-plane node never ends for Kubernetes, so the next run must replace it.
        concurrencyPolicy: props._host ? 'Replace' : 'Forbid',
        startingDeadlineSeconds: seconds(props.startingDeadline ?? Duration.hours(1)),
        successfulJobsHistoryLimit: props.successfulJobsHistoryLimit ?? 3,
        failedJobsHistoryLimit: props.failedJobsHistoryLimit ?? 3,
        jobTemplate: {
          metadata: { labels: this._labels },
          // Lazy: stores may be added until synthesis.
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
      stores: this._stores.map(({ pod }) => pod),
      record: props._record,
      host: props._host,
      trigger: 'schedule',
      compression: props.compression,
      ageRecipients: props.encryption?._recipients(),
      verify: props.verify,
      fileName: fileNameWithoutEnding(props.fileName),
      fileNameTimeZone: props.fileNameTimeZone,
      dialTimeout: props.dialTimeout && durationText(props.dialTimeout),
      timeout: props.timeout && durationText(props.timeout),
      image: props.image ?? agentImage,
      imagePullPolicy: props.imagePullPolicy,
      imagePullSecrets: props.imagePullSecrets?.map((secret) => ({ name: nameOf(secret) })),
      serviceAccountName: this.serviceAccountName(),
      resources: completeResources(
        givenResources(props.resources) ?? {},
        defaultResources({ opens: props.verify === VerificationLevel.OPEN }),
      ),
      labels: this._labels,
      nodeSelector: props.nodeSelector,
      tolerations: props.tolerations,
      priorityClassName: props.priorityClassName,
      near: this._stores.some(({ pod }) => pod.filesystem?.persistentVolumeClaim)
        ? this.exporter?._selector
        : undefined,
      backoffLimit: props.retries ?? 3,
      activeDeadlineSeconds: seconds(props.activeDeadline ?? defaultActiveDeadline),
    };
  }

  private problems(): string[] {
    return [
      ...this.propertyProblems.get(this._stores.length, () => [
        ...scheduleProblems(this.cronJobName, this.props, this._stores, isMisnamed(this.node.scope)),
        ...this.entryProblems(),
      ]),
      ...this.nameProblems(),
      ...this.folders.flatMap((folder) => sharedFolderProblems(this, folder)),
    ];
  }

  /** Problems that the EtcdCluster CRD would report for this schedule. */
  private entryProblems(): string[] {
    if (!isEtcdCluster(this.node.scope)) return [];
    return problemsOf(
      // Without `name`, the id is part of the CronJob's name, which is checked anyway.
      this.props.name === undefined ? undefined : nameProblem('id', derivedName(this.node.id), 52),
      this._stores.length <= 8
        ? undefined
        : `store ${this._stores.length}: a schedule of an EtcdCluster can have at most 8 stores; add another schedule`,
      ...(['successfulJobsHistoryLimit', 'failedJobsHistoryLimit'] as const).map((limit) =>
        this.props[limit] === 0
          ? `${limit}: 0 deletes Jobs before the reconciler has read their result; give at least 1 for a schedule of an EtcdCluster`
          : undefined,
      ),
    );
  }

  private nameProblems(): string[] {
    const namesakes = namesakeProblems(this, 'CronJob', 'backup schedule', this.cronJobName);
    if (namesakes.length > 0 || !this.serviceAccount) return namesakes;
    return namesakeProblems(this, 'ServiceAccount', 'ServiceAccount', this.cronJobName);
  }
}

function seconds(duration: Duration): number {
  return milliseconds(duration) / 1_000;
}
