import { App, Chart } from 'cdk8s';
import { Construct, type IConstruct } from 'constructs';
import { EtcdBackup } from '../backup/etcd-backup';
import { EtcdBackupSchedule } from '../backup/etcd-backup-schedule';
import type { EtcdBackupScheduleProps } from '../backup/etcd-backup-schedule-props';
import { EtcdRestore, type EtcdRestoreProps } from '../backup/etcd-restore';
import type { IEtcdCluster } from '../backup/i-etcd-cluster';
import { EtcdCluster } from '../cluster/etcd-cluster';
import { EtcdCrds } from '../cluster/etcd-crds';
import { ControlPlaneEtcdBackup } from '../control-plane/control-plane-etcd-backup';
import type { ControlPlaneEtcdBackupProps } from '../control-plane/control-plane-etcd-backup-props';
import { mirrored } from '../etcd/etcd-image';
import { agentImage } from '../lib/agent-image';
import { onNotice } from '../lib/notices';
import { EtcdReconciler, unnamedReconciler } from '../reconciler/etcd-reconciler';
import { defaultReconcilerName } from '../reconciler/etcd-reconciler-props';
import type { IEtcdReconciler } from '../reconciler/i-etcd-reconciler';
import { defaults } from '../resource/defaults';
import { type Kind, schemaOf } from '../resource/schema';
import type { EtcdClusterSpec } from '../resource/types';
import { EtcdTls } from '../tls/etcd-tls';
import { readTls } from '../tls/tls-binding';
import { EtcdUser, userSecretName } from '../users/etcd-user';
import type { ClusterWithUsers, UserAccess } from '../users/user-access';
import { nameProblem } from '../validation/names';
import { apiWith } from './apis';
import type { Document } from './documents';
import { annotationsLost } from './metadata';
import { own } from './own/own';
import type { Planned, PlannedBackup, PlannedCluster, PlannedRestore, PlannedSchedule } from './plan';

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
    // First the reconcilers, because clusters look for theirs, then the clusters, because the others may refer to them.
    for (const plan of planned) if (plan.kind === 'EtcdReconciler') this.reconciler(plan);
    for (const plan of planned) if (plan.kind === 'EtcdCluster') this.cluster(plan);
    for (const plan of planned) {
      if (plan.kind === 'EtcdBackupSchedule') this.schedule(plan);
      else if (plan.kind === 'EtcdBackup') this.backup(plan);
      else if (plan.kind === 'EtcdRestore') this.restore(plan);
      else if (plan.kind === 'EtcdUser') this.user(plan);
    }
    for (const plan of planned) if (plan.kind === 'EtcdBackup') this.reconcilerOfBackup(plan);
  }

  /** Reports the problems. If there are any, the YAML must not be used. */
  validate(): void {
    for (const construct of this.app.node.findAll()) {
      const path = this.paths.get(construct);
      for (const problem of construct.node.validate()) {
        const document = this.documentOf(construct);
        if (document) document.report.error(...placed(problem, path, document));
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

  private reconciler({ document, name, spec }: Extract<Planned, { kind: 'EtcdReconciler' }>): void {
    const { registry = spec.registry, agentImage: image = spec.image } = this.options;
    const props = { name, _written: { ...spec, registry, image } };
    const reconciler = new EtcdReconciler(this.chart(document), idOf('EtcdReconciler', name), props);
    if (spec.monitoring) this.paths.set(reconciler._addMonitoring(spec.monitoring), 'spec.monitoring');
    this.documents.set(reconciler, document);
    this.reconcilers.set(this.key(document, name), reconciler);
  }

  private cluster({ document, name, spec, schedules = [] }: PlannedCluster): void {
    const { registry = spec.registry, agentImage = spec.agentImage } = this.options;
    const cluster = new EtcdCluster(this.chart(document), idOf('EtcdCluster', name), {
      name,
      _written: { ...spec, registry, agentImage },
      reconciler: this.reconcilerOf(document, spec),
    });
    this.documents.set(cluster, document);
    this.clusters.set(this.key(document, name), cluster);
    for (const [index, schedule] of (spec.backup?.schedules ?? []).entries()) {
      const place = schedules[index] ?? { document, path: `spec.backup.schedules[${index}]` };
      const construct = cluster._addSchedule(schedule);
      this.documents.set(construct, place.document);
      if (place.path !== undefined) this.paths.set(construct, place.path);
    }
    if (spec.monitoring) this.paths.set(cluster._addMonitoring(spec.monitoring), 'spec.monitoring');
  }

  /** The reconciler that the resource names: one of the input, or one that something else adds. */
  private reconcilerOf(document: Document, spec: EtcdClusterSpec): IEtcdReconciler | undefined {
    const { serviceAccountName, name = serviceAccountName } = spec.reconciler ?? {};
    const own = this.reconcilers.get(this.key(document, name ?? defaultReconcilerName));
    if (own) return own;
    if (name !== undefined) this.noteElsewhere(document, name);
    if (name !== undefined)
      return EtcdReconciler.external({ name, serviceAccountName: serviceAccountName ?? defaultReconcilerName });
    return this.options.reconciler === false ? unnamedReconciler : undefined;
  }

  private noteElsewhere({ report }: Document, name: string): void {
    const found = [...this.reconcilers.values()].find(({ reconcilerName }) => reconcilerName === name);
    if (!found) return;
    const { namespace } = Chart.of(found);
    report.note(
      'spec.reconciler',
      `the EtcdReconciler '${name}' of this file is in ${namespace === undefined ? 'no namespace' : `namespace '${namespace}'`}, and a reconciler manages only the clusters of its own; move one of them, unless the namespace of the cluster has one with this name`,
    );
  }

  private schedule({ document, name, spec, endpointsField }: PlannedSchedule): void {
    const { cluster, etcd, controlPlane, monitoring, ...schedule } = spec;
    const { registry, agentImage: own } = this.options;
    const image = schedule.image ?? own ?? (registry === undefined ? undefined : mirrored(agentImage, registry));
    const written = { name, cluster, _written: { ...schedule, name, image } };
    const [chart, id] = [this.chart(document), idOf('EtcdBackupSchedule', name)];
    const backup = controlPlane
      ? new ControlPlaneEtcdBackup(chart, id, {
          ...written,
          _controlPlane: controlPlane,
        } as ControlPlaneEtcdBackupProps)
      : new EtcdBackupSchedule(chart, id, { ...written, _etcd: etcd } as EtcdBackupScheduleProps);
    this.documents.set(backup, document);
    if (endpointsField === undefined) this.paths.set(backup, 'spec');
    if (monitoring) this.paths.set(backup._addMonitoring(monitoring), 'spec.monitoring');
  }

  private backup({ document, name, labels, spec }: PlannedBackup): void {
    const cluster = spec.clusterName === undefined ? undefined : this.clusterOf(document, spec.clusterName);
    const props = { name, labels, cluster, _written: spec };
    this.documents.set(new EtcdBackup(this.chart(document), idOf('EtcdBackup', name), props), document);
  }

  private restore({ document, name, labels, spec }: PlannedRestore): void {
    const props = { name, labels, cluster: this.clusterOf(document, spec.clusterName), _written: spec };
    const restore = new EtcdRestore(this.chart(document), idOf('EtcdRestore', name), props as EtcdRestoreProps);
    this.documents.set(restore, document);
  }

  private user({ document, name, labels, spec }: Extract<Planned, { kind: 'EtcdUser' }>): void {
    const { clusterName, certificateSecret, passwordSecret, userName = name } = spec;
    const cluster = this.clusterOf(document, clusterName);
    // The library names the resource <cluster>-<id>.
    const id = name.startsWith(`${clusterName}-`) ? name.slice(clusterName.length + 1) : name;
    const user = new EtcdUser(this.chart(document), idOf('EtcdUser', name), {
      ...{ name, labels, cluster, userName, can: [], _written: spec },
      secretName: passwordSecret ?? certificateSecret ?? userSecretName(clusterName, id),
      password: passwordSecret !== undefined,
    });
    this.documents.set(user, document);
    annotationsLost(document, user.customResource.toJson().metadata.annotations);
    if (passwordSecret !== undefined) return;
    if (user.secret && certificateSecret === undefined) {
      document.report.note(
        'spec.certificateSecret',
        `is missing, so the certificate of the user goes into the Secret ${user.secretName}`,
      );
    }
    if (!user.secret && certificateSecret !== undefined) {
      document.report.error(
        'spec.certificateSecret',
        `needs tls.managed of '${clusterName}', because only then the reconciler issues certificates; remove it`,
      );
    }
  }

  /** Adds a reconciler for a backup of an existing etcd cluster, because no EtcdCluster adds one. */
  private reconcilerOfBackup({ document, spec: { clusterName } }: PlannedBackup): void {
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
    const named = new NamedCluster(this.chart(document), idOf('NamedCluster', name), name);
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

/** Returns the field of the document that a problem is about, and the rest. */
function placed(problem: string, path: string | undefined, document: Document): [field: string, text: string] {
  if (document.apiVersion !== own.apiVersion) return inOldDocument(problem, path ?? 'spec', document);
  return path === undefined ? ['', inSpec(problem, document)] : scheduleField(path, problem);
}

function inOldDocument(problem: string, path: string, document: Document): [field: string, text: string] {
  const [place, text] = scheduleField(path, problem);
  const whole = place === path ? `${path}.${problem}` : `${place}: ${text}`;
  const [, field, rest] = /^([\w.[\]]+): (.*)$/s.exec(whole) ?? [];
  if (field === undefined) return ['', problem];
  return [apiWith(document.apiVersion)!.fieldOf(field, document), rest!];
}

/** A problem that begins with a field of a resource of ours gets its path. */
function inSpec(problem: string, document: Document): string {
  const [, name = ''] = /^(\w+)(?=[:.[])/.exec(problem) ?? [];
  const fields = schemaOf(document.kind as Kind).properties!.spec!.properties!;
  return Object.hasOwn(fields, name) ? `spec.${problem}` : problem;
}

/** Returns the field to which a problem of a schedule belongs, and the rest: the problem uses the words of TypeScript. */
function scheduleField(path: string, problem: string): [field: string, text: string] {
  const [, property, number = '1', text = ''] = /^(store|schedule)(?: (\d+))?: (.*)$/.exec(problem) ?? [];
  if (property === 'schedule') return [`${path}.cron`, text];
  return property === 'store' ? [`${path}.stores[${Number(number) - 1}]`, text] : [path, problem];
}

/** A name that is not valid is reported later. Until then its slash must not make it the id of another construct. */
function idOf(kind: string, name: string): string {
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
