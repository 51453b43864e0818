import { ApiObject, Chart, JsonPatch, Yaml } from 'cdk8s';
import type { Construct } from 'constructs';
import { encryptionProblems } from '../backup/encryption';
import { EtcdBackupSchedule } from '../backup/etcd-backup-schedule';
import type { EtcdBackupScheduleProps } from '../backup/etcd-backup-schedule-props';
import type { BackupMonitoringOptions } from '../backup/monitoring/backup-monitoring-options';
import type { EtcdBackupMonitoring } from '../backup/monitoring/etcd-backup-monitoring';
import { agentImage } from '../lib/agent-image';
import { type BackupPodStore, nodeAffinity } from '../lib/backup-pod';
import { annotated } from '../lib/labels';
import { namesakeProblems, takeName } from '../lib/name-registry';
import type { BackupMonitoringSpec, ControlPlaneSpec } from '../resource/types';
import { futureConstruct } from '../validation/construct-id';
import * as types from '../validation/property-types';
import { requireTypes } from '../validation/type-checks';
import { type ControlPlaneEtcdBackupProps, controlPlaneSpec } from './control-plane-etcd-backup-props';
import { backupHost, controlPlaneDefaults, hostTls, hostTolerations } from './control-plane-host';
import { controlPlaneProblems } from './control-plane-problems';
import { restorePod } from './control-plane-restore-pod';
import { imageDaemonSet } from './image-daemon-set';

/**
 * Backs up the etcd of a Kubernetes control plane, from within the same Kubernetes cluster. The pods of its CronJob run
 * on any control-plane node that is up. From the node they use only the network, etcd's client certificate and, if
 * `files` is given, the files to store. The chart needs a namespace of its own.
 *
 * `restorePodYaml` returns the static Pod for a restore, which works without an API server:
 * docs/control-plane/restore.md.
 */
export class ControlPlaneEtcdBackup extends EtcdBackupSchedule {
  /** Holds the namespace of the chart. It is undefined if `createNamespace` is false. */
  readonly namespace?: ApiObject;
  /** This DaemonSet keeps the image on the nodes. It is undefined if `keepImage` is false. */
  readonly imageDaemonSet?: ApiObject;
  private readonly controlPlane: ControlPlaneSpec;
  private readonly cluster: string;

  /**
   * Creates the CronJob and what it needs.
   *
   * @param scope The chart, or a construct inside of one.
   * @param id An id that is unique within `scope`. By default, the CronJob is named `<cluster>-<id>`.
   * @param props The etcd to back up, the store and the schedule.
   */
  constructor(scope: Construct, id: string, props: ControlPlaneEtcdBackupProps) {
    super(scope, id, scheduleProps(scope, id, props));
    this.cluster = props.cluster;
    this.controlPlane = props._controlPlane ?? controlPlaneSpec(props);
    const usual = controlPlaneDefaults;
    const { keepImage = usual.keepImage, createNamespace = usual.createNamespace } = this.controlPlane;
    this.imageDaemonSet = keepImage ? this.createDaemonSet() : undefined;
    this.namespace = createNamespace ? this.createNamespace() : undefined;
    this.node.addValidation({ validate: () => this.controlPlaneProblems() });
  }

  /**
   * Returns the YAML of a static Pod that restores etcd on a node. It is a file for the nodes, not for the API server.
   * Write it to the place from which you provision your nodes, and never into the directory of the manifests that you
   * apply: `writeFileSync('etcd-restore.yaml', backup.restorePodYaml())`.
   *
   * @param storeNumber The store to restore from: 1 is `store`, and the next numbers are the stores of `addStore`.
   * Default: 1.
   * @throws if there is no such store, if the store is a volume, or if etcd runs as a service of the node
   */
  restorePodYaml(storeNumber: number = 1): string {
    const { controlPlane: paths, cluster } = this;
    const { encryption, image } = this._spec();
    const pod = restorePod({
      cluster,
      namespace: Chart.of(this).namespace ?? '',
      store: this.restoreStore(storeNumber),
      encrypted: encryption !== undefined,
      image: image ?? agentImage,
      manifestsDirectory: paths.manifestsDirectory ?? controlPlaneDefaults.manifestsDirectory,
      dataDir: paths.dataDir ?? controlPlaneDefaults.dataDir,
      restoreDirectory: paths.restoreDirectory ?? controlPlaneDefaults.restoreDirectory,
      labels: this.labelsOf('etcd-restore', 'restore'),
    });
    // JSON drops undefined fields, which YAML would write as null.
    return Yaml.stringify(JSON.parse(JSON.stringify(pod)));
  }

  /**
   * Adds what Prometheus needs to monitor the backups: an exporter, which reads the stores every five minutes, and what
   * scrapes it; who may connect to it; alerts; and a dashboard. The exporter uses neither the network nor the files of the
   * node, and has no access to etcd. It leaves out stores that are directories of the node.
   *
   * @param options What differs from the defaults.
   */
  override addMonitoring(options: BackupMonitoringOptions = {}): EtcdBackupMonitoring {
    return super.addMonitoring(options);
  }

  /** @internal */
  override _addMonitoring(spec: BackupMonitoringSpec): EtcdBackupMonitoring {
    const monitoring = super._addMonitoring(spec);
    if (this.namespace) monitoring.node.addDependency(this.namespace);
    return monitoring;
  }

  private restoreStore(number: number): BackupPodStore {
    const { stores } = this._spec();
    const store = stores[number - 1];
    const wrong = (problem: string) => new Error(`${this.node.path}: restorePodYaml: ${problem}`);
    if (this.controlPlane.etcdService) {
      throw wrong(
        'etcd is a service of the node, which no static Pod can stop; restore it as docs/control-plane/restore.md describes',
      );
    }
    if (!store) throw wrong(`there is no store ${number}; give a number from 1 to ${stores.length}`);
    if (!store.filesystem || store.filesystem.hostPath !== undefined) return store;
    throw wrong(`store ${number} is a volume, which a static Pod cannot mount; give the number of another store`);
  }

  private createNamespace(): ApiObject {
    const { namespace: name = '' } = Chart.of(this);
    takeName(this, 'Namespace', name);
    const namespace = new ApiObject(this, 'Namespace', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name,
        labels: {
          ...this.labelsOf('etcd-backup', 'backup'),
          // The stricter levels allow neither the network nor the files of the node.
          'pod-security.kubernetes.io/enforce': 'privileged',
        },
        ...annotated(this._spec().annotations),
      },
    });
    // The chart sets its namespace on every object, but a Namespace is not namespaced.
    namespace.addJsonPatch(JsonPatch.remove('/metadata/namespace'));
    for (const object of [this.serviceAccount, this.cronJob, this.imageDaemonSet]) object?.addDependency(namespace);
    return namespace;
  }

  private createDaemonSet(): ApiObject {
    const spec = this._spec();
    const { image, imagePullPolicy, imagePullSecrets, nodeSelector, priorityClassName, tolerations } = spec;
    const name = `${this.cronJobName}-image`;
    takeName(this, 'DaemonSet', name);
    const selector = {
      'app.kubernetes.io/name': 'etcd-agent-image',
      'app.kubernetes.io/instance': this.cronJobName,
    };
    const labels = { ...this.labelsOf('etcd-agent-image', 'image'), ...selector };
    return new ApiObject(this, 'DaemonSet', {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name, labels, ...annotated(spec.annotations) },
      spec: imageDaemonSet(
        {
          ...{ labels, selector, image: image ?? agentImage, imagePullPolicy, imagePullSecrets },
          ...{ nodeSelector, priorityClassName, tolerations: hostTolerations(this.controlPlane, tolerations) },
          affinity: nodeAffinity(this.controlPlane.nodeLabels ?? controlPlaneDefaults.nodeLabels),
        },
        spec,
      ),
    });
  }

  private labelsOf(name: string, component: string): Record<string, string> {
    const own = { 'app.kubernetes.io/name': name, 'app.kubernetes.io/component': component };
    return { ...this._labels, ...own };
  }

  private controlPlaneProblems(): string[] {
    const { namespace } = Chart.of(this);
    return [
      ...controlPlaneProblems(this.controlPlane, namespace),
      ...encryptionProblems(this.controlPlane.files?.encryption).map((problem) => `files: ${problem}`),
      ...(this.namespace ? namesakeProblems(this, 'Namespace', 'Namespace', namespace ?? '') : []),
    ];
  }
}

function scheduleProps(scope: Construct, id: string, props: ControlPlaneEtcdBackupProps): EtcdBackupScheduleProps {
  if (!props._written) requireTypes(futureConstruct(scope, id), props, types.ControlPlaneEtcdBackupProps);
  const { certificates, nodeLabels, manifestsDirectory, etcdService, dataDir, restoreDirectory, ...others } = props;
  const { files, createNamespace, keepImage, ...schedule } = others;
  const controlPlane = props._controlPlane ?? controlPlaneSpec(props);
  return {
    ...schedule,
    endpoints: [...(controlPlane.endpoints ?? controlPlaneDefaults.endpoints)],
    tls: hostTls(controlPlane),
    _host: backupHost(controlPlane),
    _controlPlane: controlPlane,
    _complete: (spec) => ({ ...spec, tolerations: hostTolerations(controlPlane, spec.tolerations) }),
  };
}
