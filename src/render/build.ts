import { App, Chart } from 'cdk8s';
import { Construct, type IConstruct } from 'constructs';
import { EtcdBackup } from '../backup/etcd-backup';
import { EtcdBackupSchedule } from '../backup/etcd-backup-schedule';
import type { EtcdBackupScheduleProps } from '../backup/etcd-backup-schedule-props';
import { EtcdRestore } from '../backup/etcd-restore';
import type { IEtcdCluster } from '../backup/i-etcd-cluster';
import { EtcdCluster } from '../cluster/etcd-cluster';
import { EtcdCrds } from '../cluster/etcd-crds';
import { ControlPlaneEtcdBackup } from '../control-plane/control-plane-etcd-backup';
import type { ControlPlaneEtcdBackupProps } from '../control-plane/control-plane-etcd-backup-props';
import { mirrored } from '../etcd/etcd-image';
import { agentImage } from '../lib/agent-image';
import { onNotice } from '../lib/notices';
import { EtcdReconciler } from '../reconciler/etcd-reconciler';
import { defaultReconcilerName } from '../reconciler/etcd-reconciler-props';
import type { IEtcdReconciler } from '../reconciler/i-etcd-reconciler';
import { defaults } from '../resource/defaults';
import type { EtcdClusterSpec } from '../resource/types';
import { EtcdTls } from '../tls/etcd-tls';
import { readTls } from '../tls/tls-binding';
import { EtcdUser } from '../users/etcd-user';
import type { ClusterWithUsers, UserAccess } from '../users/user-access';
import { nameProblem } from '../validation/names';
import type { Document } from './documents';
import type {
  Planned,
  PlannedBackup,
  PlannedCluster,
  PlannedOwnSchedule,
  PlannedReconciler,
  PlannedRestore,
  PlannedSchedule,
  PlannedUser,
} from './plan';

export interface BuildOptions {
  /** Registry that mirrors both images. */
  readonly registry?: string;
  /** Image of every agent, instead of the released ones. */
  readonly agentImage?: string;
  /** True to put the CRDs first. */
  readonly crds?: boolean;
  /** False to leave the reconcilers out. Default: each namespace gets one. */
  readonly reconciler?: boolean;
}

/** Builds the manifests of all documents. It reports each problem for the document that causes it. */
export class Build {
  private readonly app = new App();
  private readonly charts = new Map<string | undefined, Chart>();
  private readonly documents = new Map<IConstruct, Document>();
  /** Paths of the schedules in the documents of their clusters. */
  private readonly paths = new Map<IConstruct, string>();
  private readonly clusters = new Map<string, IEtcdCluster>();
  private readonly reconcilers = new Map<string, EtcdReconciler>();
  private readonly crds?: Chart;
  /** Notes that are not about one document. */
  readonly notes: string[] = [];

  constructor(private readonly options: BuildOptions) {
    onNotice(this.app, (message) => this.notes.push(`note: ${message}`), 'with --agent-image');
    if (!options.crds) return;
    this.crds = new Chart(this.app, 'crds');
    new EtcdCrds(this.crds, 'EtcdCrds');
  }

  add(planned: readonly Planned[]): void {
    // First the reconcilers, because clusters look for theirs, then the clusters, because backups and restores may refer to them.
    for (const plan of planned) if (plan.becomes === 'reconciler') this.ownReconciler(plan);
    for (const plan of planned) if (plan.becomes === 'cluster') this.cluster(plan);
    for (const plan of planned) {
      if (plan.becomes === 'schedule') this.schedule(plan);
      else if (plan.becomes === 'own schedule') this.ownSchedule(plan);
      else if (plan.becomes === 'backup') this.backup(plan);
      else if (plan.becomes === 'restore') this.restore(plan);
      else if (plan.becomes === 'user') this.user(plan);
    }
    for (const plan of planned) if (plan.becomes === 'backup') this.reconciler(plan);
  }

  /** Reports the problems. If there are any, the YAML must not be used. */
  validate(): void {
    for (const construct of this.app.node.findAll()) {
      const path = this.paths.get(construct);
      for (const problem of construct.node.validate()) {
        const [field, text] = path === undefined ? ['', problem] : scheduleField(path, problem);
        this.documentOf(construct)?.report.error(field, text);
      }
    }
  }

  yaml(): string {
    return this.app.synthYaml();
  }

  /** Returns the static Pods that restore the control planes of the documents from their store with this number. */
  restorePods(store: number): string[] {
    return [...this.documents].flatMap(([construct, document]) => {
      if (!(construct instanceof ControlPlaneEtcdBackup)) return [];
      try {
        return construct.restorePodYaml(store);
      } catch (error) {
        document.report.error('--restore-pod', (error as Error).message.replace(/^.*: restorePodYaml: /, ''));
        return [];
      }
    });
  }

  private ownReconciler({ document, spec }: PlannedReconciler): void {
    const { registry = spec.registry, agentImage: image = spec.image } = this.options;
    const { name } = document;
    const props = { name, _written: { ...spec, registry, image } };
    const reconciler = new EtcdReconciler(this.chart(document), idOf('EtcdReconciler', document), props);
    if (spec.monitoring) this.paths.set(reconciler._addMonitoring(spec.monitoring), 'spec.monitoring');
    this.documents.set(reconciler, document);
    this.reconcilers.set(this.key(document, name), reconciler);
  }

  private cluster({ document, spec, props, schedules, backups = [] }: PlannedCluster): void {
    const { registry = spec?.registry, agentImage = spec?.agentImage } = this.options;
    const cluster = new EtcdCluster(this.chart(document), idOf('EtcdCluster', document), {
      ...(spec
        ? { _written: { spec: { ...spec, registry, agentImage }, problems: [] } }
        : { ...props, registry, agentImage }),
      name: document.name,
      reconciler: this.reconcilerOf(document, spec),
    });
    for (const [index, schedule] of (spec?.backup?.schedules ?? []).entries())
      this.paths.set(cluster._addSchedule(schedule), `spec.backup.schedules[${index}]`);
    if (spec?.monitoring) this.paths.set(cluster._addMonitoring(spec.monitoring), 'spec.monitoring');
    for (const schedule of backups) this.paths.set(cluster._addSchedule(schedule), 'spec.backup');
    this.documents.set(cluster, document);
    this.clusters.set(this.key(document, document.name), cluster);
    for (const { id, path, options, stores, document: own } of schedules) {
      const schedule = cluster.addBackupSchedule(id, options);
      for (const { store, retention } of stores) schedule.addStore(store, { retention });
      if (own) this.documents.set(schedule, own);
      if (path !== undefined) this.paths.set(schedule, path);
    }
  }

  /** The reconciler that the resource names: one of the input, or one that something else adds. */
  private reconcilerOf(document: Document, spec: EtcdClusterSpec | undefined): IEtcdReconciler | undefined {
    const { serviceAccountName, name = serviceAccountName } = spec?.reconciler ?? {};
    const own = this.reconcilers.get(this.key(document, name ?? defaultReconcilerName));
    if (own) return own;
    if (name !== undefined)
      return EtcdReconciler.external({ name, serviceAccountName: serviceAccountName ?? defaultReconcilerName });
    return this.options.reconciler === false ? EtcdReconciler.external() : undefined;
  }

  private schedule({ document, endpoints, tls, options }: PlannedSchedule): void {
    const { name } = document;
    const image = options.image ?? this.options.agentImage ?? mirrored(agentImage, this.options.registry);
    // The suffix avoids a clash with the ServiceAccount of a cluster, which has the cluster's name.
    const cronJob = name.includes('backup') ? name : `${name}-backup`;
    const props = { ...options, cluster: name, name: cronJob, endpoints, tls, image };
    const schedule = new EtcdBackupSchedule(this.chart(document), idOf('EtcdBackupSchedule', document), props);
    this.documents.set(schedule, document);
  }

  private ownSchedule({ document, spec, tls, auth }: PlannedOwnSchedule): void {
    const { cluster, etcd, controlPlane, monitoring, ...schedule } = spec;
    const { registry, agentImage: own } = this.options;
    const image = schedule.image ?? own ?? (registry === undefined ? undefined : mirrored(agentImage, registry));
    const { name } = document;
    const written = { name, cluster, _written: { ...schedule, name, image } };
    const [chart, id] = [this.chart(document), idOf('EtcdBackupSchedule', document)];
    const backup = controlPlane
      ? new ControlPlaneEtcdBackup(chart, id, {
          ...written,
          _controlPlane: controlPlane,
        } as ControlPlaneEtcdBackupProps)
      : new EtcdBackupSchedule(chart, id, { ...written, ...etcd, tls, auth } as unknown as EtcdBackupScheduleProps);
    this.documents.set(backup, document);
    this.paths.set(backup, 'spec');
    if (monitoring) this.paths.set(backup._addMonitoring(monitoring), 'spec.monitoring');
  }

  private backup({ becomes: _, document, clusterName, ...props }: PlannedBackup): void {
    const cluster = clusterName === undefined ? undefined : this.clusterOf(document, clusterName);
    const chart = this.chart(document);
    const backup = new EtcdBackup(chart, idOf('EtcdBackup', document), { ...props, name: document.name, cluster });
    this.documents.set(backup, document);
  }

  private restore({ becomes: _, old: __, document, clusterName, origin, ...props }: PlannedRestore): void {
    const restore = new EtcdRestore(this.chart(document), idOf('EtcdRestore', document), {
      ...props,
      ...origin,
      name: document.name,
      cluster: this.clusterOf(document, clusterName),
    });
    this.documents.set(restore, document);
  }

  private user({ becomes: _, hasSecret, document, clusterName, ...props }: PlannedUser): void {
    const cluster = this.clusterOf(document, clusterName);
    const chart = this.chart(document);
    const user = new EtcdUser(chart, idOf('EtcdUser', document), { ...props, name: document.name, cluster });
    this.documents.set(user, document);
    if (props.password) return;
    if (user.secret && !hasSecret) {
      document.report.note(
        'spec.certificateSecret',
        `is missing, so the certificate of the user goes into the Secret ${user.secretName}`,
      );
    }
    if (!user.secret && hasSecret) {
      document.report.error(
        'spec.certificateSecret',
        `needs tls.managed of '${clusterName}', because only then the reconciler issues certificates; remove it`,
      );
    }
  }

  /** Adds a reconciler for a backup of an existing etcd cluster, because no EtcdCluster adds one. */
  private reconciler({ document, clusterName }: PlannedBackup): void {
    const chart = this.chart(document);
    const hasReconciler = chart.node.children.some(
      (child) => child instanceof EtcdCluster || child instanceof EtcdReconciler,
    );
    if (this.options.reconciler === false || clusterName !== undefined || hasReconciler) return;
    const { registry, agentImage: image } = this.options;
    const reconciler = new EtcdReconciler(chart, 'Reconciler', { registry, image });
    this.documents.set(reconciler, document);
    document.report.note(
      'spec',
      `the reconciler '${reconciler.reconcilerName}', which takes the backup, is included; if the namespace already has one, leave it out with --no-reconciler`,
    );
  }

  private clusterOf(document: Document, name: string): IEtcdCluster {
    const found = this.clusters.get(this.key(document, name));
    const problem = nameProblem('clusterName', name);
    if (problem && !(found instanceof EtcdCluster)) document.report.error('', problem);
    if (found) return found;
    const named = new NamedCluster(this.chart(document), idOf('NamedCluster', { name }), name);
    this.clusters.set(this.key(document, name), named);
    return named;
  }

  private key(document: Document, name: string): string {
    return JSON.stringify([document.target, name]);
  }

  private chart(document: Document): Chart {
    const namespace = document.target;
    const found = this.charts.get(namespace);
    if (found) return found;
    const chart = new Chart(this.app, namespace === undefined ? 'manifests' : `namespace-${namespace}`, { namespace });
    if (this.crds) chart.addDependency(this.crds);
    this.charts.set(namespace, chart);
    return chart;
  }

  private documentOf(construct: IConstruct): Document | undefined {
    const documents = construct.node.scopes.flatMap((scope) => this.documents.get(scope) ?? []);
    return documents.at(-1);
  }
}

/** Returns the field to which a problem of a schedule belongs, and the rest: the problem uses the words of TypeScript. */
function scheduleField(path: string, problem: string): [field: string, text: string] {
  const [, property, number = '1', text = ''] = /^(store|schedule)(?: (\d+))?: (.*)$/.exec(problem) ?? [];
  if (property === 'schedule') return [`${path}.cron`, text];
  return property === 'store' ? [`${path}.stores[${Number(number) - 1}]`, text] : [path, problem];
}

/** A name that is not valid is reported later. Until then its slash must not make it the id of another construct. */
function idOf(kind: string, { name }: Pick<Document, 'name'>): string {
  return `${kind} ${name.includes('/') ? Buffer.from(name).toString('hex') : name}`;
}

/** An EtcdCluster to which a backup or a restore refers, and which is not in the input. */
class NamedCluster extends Construct implements ClusterWithUsers {
  /** Unknown; no resource needs them. */
  readonly clientEndpoints: string[] = [];

  constructor(
    scope: Construct,
    id: string,
    readonly clusterName: string,
  ) {
    super(scope, id);
  }

  /** Unknown too: taken to be the default. */
  _userAccess(): UserAccess {
    const { spec } = EtcdTls.managed()._spec({ name: this.clusterName });
    return {
      tls: readTls(spec, { name: this.clusterName, clusterDomain: defaults.EtcdClusterSpec.clusterDomain }),
      reconcilerAccount: EtcdReconciler.external().serviceAccountName,
    };
  }

  addBackupSchedule(): never {
    throw this.unknown();
  }

  toNetworkPolicyPeerConfig(): never {
    throw this.unknown();
  }

  toPodSelector(): never {
    throw this.unknown();
  }

  toPodSelectorConfig(): never {
    throw this.unknown();
  }

  private unknown(): Error {
    return new Error(`${this.clusterName} is known only by its name`);
  }
}
