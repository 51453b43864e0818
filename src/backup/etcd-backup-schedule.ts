import { ApiObject, Chart, Lazy } from 'cdk8s';
import { Construct } from 'constructs';
import { agentImage } from '../lib/agent-image';
import type { BackupPodStore } from '../lib/backup-pod';
import { isAttached } from '../lib/construct-tree';
import { durationText } from '../lib/duration';
import { namesakeProblems, takeName } from '../lib/name-registry';
import { tellIfUnreleased } from '../lib/notices';
import { defaults } from '../resource/defaults';
import { enumText } from '../resource/enum-text';
import { below, type PropNames, propProblems, withFound } from '../resource/prop-problems';
import { fieldProblems } from '../resource/resource-problems';
import { resourceYaml } from '../resource/resource-yaml';
import type {
  BackupMonitoringSpec,
  BackupOverrideSpec,
  EtcdBackupScheduleSpec,
  ExistingEtcdSpec,
} from '../resource/types';
import type { BackupStore } from '../stores/backup-store';
import { offHostProblem } from '../stores/host-path';
import type { StoreDefinition } from '../stores/store-definition';
import { placeOf } from '../stores/store-place';
import { BackupStore as storeType } from '../validation/class-types';
import { futureConstruct, requireFreeId } from '../validation/construct-id';
import { derivedName } from '../validation/derived-name';
import { endpointUrl } from '../validation/endpoints';
import { Memo } from '../validation/memo';
import { nameOf } from '../validation/named';
import { nameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import * as types from '../validation/property-types';
import { required, requireTypes } from '../validation/type-checks';
import { addBackupFolder, type BackupFolder, sharedFolderProblems } from './backup-folders';
import { givenResources } from './backup-resources';
import { scheduleProblems, specProblems, storeName } from './backup-schedule-problems';
import type { AddStoreOptions, EtcdBackupScheduleProps } from './etcd-backup-schedule-props';
import { isEtcdCluster, isMisnamed } from './etcd-cluster-checks';
import { jobPropNames } from './job-identity';
import { jobFieldsOf } from './job-options';
import { type BackupMonitoringOptions, backupMonitoringSpec } from './monitoring/backup-monitoring-options';
import { EtcdBackupMonitoring } from './monitoring/etcd-backup-monitoring';
import {
  finishedProblems,
  type ScheduleSpec,
  type ScheduleTarget,
  scheduleJob,
  scheduleLabels,
  scheduleObjects,
} from './schedule-manifests';

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
  private readonly etcd: Pick<ScheduleTarget, 'endpoints' | 'tls' | 'auth'>;
  /**
   * The name in the resource of the cluster.
   * @internal
   */
  readonly _name: string;
  /** @internal */
  readonly _labels: Readonly<Record<string, string>>;
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
    if (!props._written) requireTypes(this, props, types.EtcdBackupScheduleProps);
    this.props = props;
    this.etcd = etcdOf(props);
    this._name = props._written?.name ?? derivedName(id);
    this.cronJobName = props.name ?? derivedName(`${props.cluster}-${id}`);
    const { labels } = props._written ?? props;
    this._labels = scheduleLabels(props.cluster, this.cronJobName, props._clusterMetadata?.labels, labels);
    this.serviceAccount = this.createServiceAccount();
    this.cronJob = this.createCronJob();
    this.node.defaultChild = this.cronJob;
    if (props._written) for (const store of props._written.stores) this.addFolder(store);
    else this.addStore(props.store, { retention: props.retention });
    takeName(this, 'CronJob', this.cronJobName);
    tellIfUnreleased(this, this.complete().image ?? agentImage);
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
    requireTypes(this, { ...options, store }, { ...types.AddStoreOptions, store: required(storeType) });
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
    this.addFolder({ ...definition.pod, retention: retention?._policy() });
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
    requireTypes(futureConstruct(this, 'Monitoring'), options, types.BackupMonitoringOptions);
    const { scope } = this.node;
    if (isEtcdCluster(scope)) {
      throw new Error(
        `${this.node.path}: addMonitoring: the monitoring of the EtcdCluster '${scope.clusterName}' covers its schedules; call addMonitoring of the cluster instead`,
      );
    }
    return this._addMonitoring(backupMonitoringSpec(options));
  }

  /**
   * Adds the monitoring as the resource has it.
   * @internal
   */
  _addMonitoring(spec: BackupMonitoringSpec): EtcdBackupMonitoring {
    const monitored = {
      ...{ cluster: this.props.cluster, cronJobName: this.cronJobName, cron: this._spec().cron, labels: this._labels },
      annotations: this._spec().annotations,
      pod: () => scheduleJob(this.complete(), this.target()),
      fields: () => this.complete(),
    };
    this.exporter = EtcdBackupMonitoring._of(this, monitored, spec);
    return this.exporter;
  }

  /**
   * Returns the EtcdBackupSchedule resource from which `cdk8s-etcd render` makes the same objects. It is YAML for a repository
   * without TypeScript, not for the API server.
   *
   * @throws for a schedule of an `EtcdCluster`, whose resource contains its schedules
   */
  resourceYaml(): string {
    if (this.isOfCluster()) {
      throw new Error(
        `${this.node.path}: resourceYaml: the schedule is part of the EtcdCluster '${this.props.cluster}'; write it into spec.backup.schedules of that resource`,
      );
    }
    const { namespace } = Chart.of(this);
    return resourceYaml('EtcdBackupSchedule', { name: this.cronJobName, namespace }, this.resourceSpec());
  }

  private resourceSpec(): EtcdBackupScheduleSpec {
    const { cluster, _controlPlane } = this.props;
    const { name: _, cronJobName: __, ...schedule } = this._spec();
    const monitoring = this.exporter && isAttached(this.exporter) ? this.exporter._spec : undefined;
    // Those of a cluster are only in `complete`.
    const overrides = schedule.overrides as EtcdBackupScheduleSpec['overrides'];
    return {
      cluster,
      ...(_controlPlane ? { controlPlane: _controlPlane } : { etcd: this.etcd as ExistingEtcdSpec }),
      ...schedule,
      overrides,
      monitoring,
    };
  }

  /** Also of one that another app creates. */
  private isOfCluster(): boolean {
    return this.props._record !== undefined;
  }

  /**
   * Returns the settings that the cluster's other backups share with this schedule. They are complete only after all
   * stores have been added.
   * @internal
   */
  _spec(): ScheduleSpec {
    const { props, cronJobName } = this;
    if (props._written) return props._written;
    const name = this._name;
    const annotations = Object.assign(
      {},
      props.serviceAccountAnnotations,
      ...this._stores.map((store) => store.serviceAccountAnnotations),
    );
    const spec: ScheduleSpec = {
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
      ...{ fileName: props.fileName, fileNameTimeZone: props.fileNameTimeZone, suspend: props.suspend },
      startingDeadline: props.startingDeadline && durationText(props.startingDeadline),
      activeDeadline: props.activeDeadline && durationText(props.activeDeadline),
      retries: props.retries,
      successfulJobsHistoryLimit: props.successfulJobsHistoryLimit,
      failedJobsHistoryLimit: props.failedJobsHistoryLimit,
      serviceAccountName: nameOf(props.serviceAccountName),
      serviceAccountAnnotations: Object.keys(annotations).length > 0 ? annotations : undefined,
      image: props.image,
      resources: givenResources(props.resources),
      ...jobFieldsOf<BackupOverrideSpec>(props),
    };
    // The resource must name an image for executables of the user.
    const needsImage = props.image === undefined && spec.stores.some(({ command }) => command);
    return needsImage ? { ...spec, image: props._complete?.(spec).image } : spec;
  }

  /** What the objects are made of. */
  private complete(): ScheduleSpec {
    const spec = this._spec();
    return this.props._complete?.(spec) ?? spec;
  }

  private target(): ScheduleTarget {
    const { props, etcd } = this;
    return {
      cronJobName: this.cronJobName,
      labels: this._labels,
      annotations: props._clusterMetadata?.annotations,
      cluster: props.cluster,
      ...etcd,
      endpoints: etcd.endpoints.map((endpoint) => endpointUrl(endpoint, etcd.tls !== undefined)),
      record: props._record,
      protect: props._protect,
      host: props._host,
      near: this._spec().stores.some(({ filesystem }) => filesystem?.persistentVolumeClaim)
        ? this.exporter?._selector
        : undefined,
    };
  }

  private addFolder(store: BackupPodStore): void {
    const folder: BackupFolder = {
      property: storeName(this.folders.length),
      place: placeOf(store),
      cluster: this.props.cluster,
      endpoints: this.props._clientEndpoints ?? this.etcd.endpoints,
      retention: JSON.stringify(store.retention ?? 'all'),
    };
    this.folders.push(folder);
    addBackupFolder(this, folder);
  }

  private createServiceAccount(): ApiObject | undefined {
    const account = scheduleObjects(this.complete(), this.target()).get('ServiceAccount');
    if (!account) return undefined;
    takeName(this, 'ServiceAccount', this.cronJobName);
    return new ApiObject(this, 'ServiceAccount', account);
  }

  private createCronJob(): ApiObject {
    const cronJob = () => scheduleObjects(this.complete(), this.target()).get('CronJob')!;
    const { apiVersion, kind, metadata } = cronJob();
    // Lazy: stores may be added until synthesis.
    const spec = Lazy.any({ produce: () => cronJob().spec });
    return new ApiObject(this, 'CronJob', { apiVersion, kind, metadata, spec });
  }

  private problems(): string[] {
    return [
      ...this.propertyProblems.get(this._stores.length, () => this.ownProblems()),
      ...this.nameProblems(),
      ...this.folders.flatMap((folder) => sharedFolderProblems(this, folder)),
    ];
  }

  private ownProblems(): string[] {
    const { props, cronJobName } = this;
    const misnamed = isMisnamed(this.node.scope);
    const spec = this._spec();
    const found = [
      ...specProblems(misnamed && props.name === undefined ? undefined : cronJobName, spec),
      ...finishedProblems(this.complete(), spec.overrides, this.target()),
    ];
    // What its schema reports of a resource.
    if (props._written) return found;
    const own = [
      ...found,
      ...scheduleProblems({ ...props, image: this.complete().image }, this._stores, misnamed),
      // Without `name`, the id is part of the CronJob's name, which is checked anyway.
      ...problemsOf(
        props.name === undefined || !isEtcdCluster(this.node.scope)
          ? undefined
          : nameProblem('id', derivedName(this.node.id), 52),
      ),
    ];
    return withFound(own, this.schemaProblems());
  }

  /** What the schema of the resource says of a schedule. Each store, endpoint and encryption and the monitoring report their own. */
  private schemaProblems(): string[] {
    const found = isEtcdCluster(this.node.scope)
      ? propProblems(fieldProblems('EtcdCluster', 'spec.backup.schedules', [this._spec()]), entryPropNames)
      : propProblems(fieldProblems('EtcdBackupSchedule', 'spec', this.resourceSpec()), resourcePropNames);
    return found.filter((problem) => !/^(store\[|monitoring|files[.]encryption|tls: an https endpoint)/.test(problem));
  }

  private nameProblems(): string[] {
    const namesakes = namesakeProblems(this, 'CronJob', 'backup schedule', this.cronJobName);
    if (namesakes.length > 0 || !this.serviceAccount) return namesakes;
    return namesakeProblems(this, 'ServiceAccount', 'ServiceAccount', this.cronJobName);
  }
}

function etcdOf({ _etcd, endpoints, tls, auth }: EtcdBackupScheduleProps) {
  if (!_etcd) return { endpoints, tls: tls?._pod(), auth: auth?._files() };
  return { ..._etcd, tls: _etcd.tls && { ...defaults.ExistingEtcdSpec.tls, ..._etcd.tls } };
}

const entryPropNames: PropNames = {
  '[0]': '',
  '[0].name': 'id',
  '[0].cronJobName': 'name',
  '[0].cron': 'schedule',
  '[0].ttlSecondsAfterFinished': 'ttlAfterFinished',
  '[0].stores': 'store',
  ...below('[0]', jobPropNames),
};

const resourcePropNames: PropNames = { cron: 'schedule', stores: 'store', etcd: '', controlPlane: '', ...jobPropNames };
