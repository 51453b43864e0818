import { ApiObject, Chart, JsonPatch, Yaml } from 'cdk8s';
import type { Construct } from 'constructs';
import { EtcdBackupSchedule } from '../backup/etcd-backup-schedule';
import type { EtcdBackupScheduleProps } from '../backup/etcd-backup-schedule-props';
import { agentImage } from '../lib/agent-image';
import { type BackupPodStore, nodeAffinity } from '../lib/backup-pod';
import { namesakeProblems, takeName } from '../lib/name-registry';
import { placed } from '../validation/construct-id';
import { requireKinds } from '../validation/kinds';
import { controlPlaneKinds } from '../validation/property-kinds';
import type { ControlPlaneEtcdBackupProps } from './control-plane-etcd-backup-props';
import { backupHost, controlPlaneDefaults, hostTls, hostTolerations } from './control-plane-host';
import { controlPlaneProblems } from './control-plane-problems';
import { restorePod } from './control-plane-restore-pod';
import { imageDaemonSet } from './image-daemon-set';

/**
 * Backs up the etcd of the Kubernetes that it runs in, from its control-plane nodes: a CronJob whose pods run beside etcd on
 * whichever of these nodes is up, and have nothing of the node but its network, etcd's client certificate and, where asked
 * for, files to store. The chart needs a namespace of its own.
 *
 * `restorePodYaml` is the other half, for the day when there is no API server: docs/control-plane/restore.md.
 */
export class ControlPlaneEtcdBackup extends EtcdBackupSchedule {
  /** The namespace; none when `createNamespace` is false. */
  readonly namespace?: ApiObject;
  /** The DaemonSet that keeps the image on the nodes; none when `keepImage` is false. */
  readonly imageDaemonSet?: ApiObject;
  private readonly controlPlane: ControlPlaneEtcdBackupProps;

  constructor(scope: Construct, id: string, props: ControlPlaneEtcdBackupProps) {
    super(scope, id, scheduleProps(scope, id, props));
    this.controlPlane = props;
    this.imageDaemonSet = (props.keepImage ?? true) ? this.createDaemonSet() : undefined;
    this.namespace = (props.createNamespace ?? true) ? this.createNamespace() : undefined;
    this.node.addValidation({ validate: () => this.controlPlaneProblems() });
  }

  /**
   * The static Pod that restores etcd on a node, as YAML: a file for the nodes, not for the API server. Write it to where
   * your nodes' files come from, and never among the manifests that are applied:
   * `writeFileSync('etcd-restore.yaml', backup.restorePodYaml())`.
   *
   * @param storeNumber the store to restore from: 1 is `store`, the next are those of `addStore`. Default: 1.
   */
  restorePodYaml(storeNumber: number = 1): string {
    const { cluster, encryption, image, ...paths } = this.controlPlane;
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
    // Without what is undefined, which would be written as null.
    return Yaml.stringify(JSON.parse(JSON.stringify(pod)));
  }

  private restoreStore(number: number): BackupPodStore {
    const store = this._stores[number - 1]?.pod;
    const wrong = (problem: string) => new Error(`${this.node.path}: restorePodYaml: ${problem}`);
    if (this.controlPlane.etcdService) {
      throw wrong(
        'etcd is a service here, and no static Pod can stop it; docs/control-plane/restore.md says what does',
      );
    }
    if (!store) throw wrong(`there is no store ${number}; give a number from 1 to ${this._stores.length}`);
    if (!store.filesystem || store.filesystem.hostPath !== undefined) return store;
    throw wrong(`store ${number} is a volume, which no static Pod can have; give the number of another store`);
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
          // The lower levels allow neither the node's network nor its files.
          'pod-security.kubernetes.io/enforce': 'privileged',
        },
      },
    });
    // It lies in none, though all objects of the chart get one.
    namespace.addJsonPatch(JsonPatch.remove('/metadata/namespace'));
    for (const object of [this.serviceAccount, this.cronJob, this.imageDaemonSet]) object?.addDependency(namespace);
    return namespace;
  }

  private createDaemonSet(): ApiObject {
    const { image, imagePullPolicy, imagePullSecrets, nodeLabels, nodeSelector, priorityClassName } = this.controlPlane;
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
      metadata: { name, labels },
      spec: imageDaemonSet({
        ...{ labels, selector, image: image ?? agentImage, imagePullPolicy, nodeSelector, priorityClassName },
        imagePullSecrets: imagePullSecrets?.map((secret) => ({ name: secret })),
        tolerations: hostTolerations(this.controlPlane),
        affinity: nodeAffinity(nodeLabels ?? controlPlaneDefaults.nodeLabels),
      }),
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
      ...(this.namespace ? namesakeProblems(this, 'Namespace', 'Namespace', namespace ?? '') : []),
    ];
  }
}

function scheduleProps(scope: Construct, id: string, props: ControlPlaneEtcdBackupProps): EtcdBackupScheduleProps {
  requireKinds(placed(scope, id), props, controlPlaneKinds);
  const { certificates, nodeLabels, manifestsDirectory, etcdService, dataDir, restoreDirectory, ...others } = props;
  const { files, createNamespace, keepImage, ...schedule } = others;
  return {
    ...schedule,
    endpoints: props.endpoints ?? [...controlPlaneDefaults.endpoints],
    tls: hostTls(props),
    tolerations: hostTolerations(props),
    _host: backupHost(props),
  };
}
