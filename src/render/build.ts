import { App, Chart } from 'cdk8s';
import type { IConstruct } from 'constructs';
import { EtcdBackup } from '../backup/etcd-backup';
import { EtcdBackupSchedule } from '../backup/etcd-backup-schedule';
import { EtcdRestore } from '../backup/etcd-restore';
import type { IEtcdCluster } from '../backup/i-etcd-cluster';
import { EtcdCluster } from '../cluster/etcd-cluster';
import { EtcdCrds } from '../cluster/etcd-crds';
import { mirrored } from '../etcd/etcd-image';
import { agentImage } from '../lib/agent-image';
import { EtcdReconciler } from '../reconciler/etcd-reconciler';
import { nameProblem } from '../validation/names';
import type { Document } from './documents';
import { NamedCluster } from './named-cluster';
import type { Planned, PlannedBackup, PlannedCluster, PlannedRestore, PlannedSchedule } from './plan';

export interface BuildOptions {
  /** A mirror of both images. */
  readonly registry?: string;
  /** Whether the CRDs come first. */
  readonly crds?: boolean;
  /** Whether each namespace gets its reconciler. */
  readonly reconciler?: boolean;
}

/** The manifests of all documents, as YAML. What is wrong is said of the document that it comes from. */
export class Build {
  private readonly app = new App();
  private readonly charts = new Map<string | undefined, Chart>();
  private readonly documents = new Map<IConstruct, Document>();
  private readonly clusters = new Map<string, EtcdCluster>();
  private readonly crds?: Chart;

  constructor(private readonly options: BuildOptions) {
    if (!options.crds) return;
    this.crds = new Chart(this.app, 'crds');
    new EtcdCrds(this.crds, 'EtcdCrds');
  }

  add(planned: readonly Planned[]): void {
    // The others may name a cluster.
    for (const plan of planned) if (plan.becomes === 'cluster') this.cluster(plan);
    for (const plan of planned) {
      if (plan.becomes === 'schedule') this.schedule(plan);
      else if (plan.becomes === 'backup') this.backup(plan);
      else if (plan.becomes === 'restore') this.restore(plan);
    }
    for (const plan of planned) if (plan.becomes === 'backup') this.reconciler(plan);
  }

  /** Tells what is wrong; the YAML is worth nothing then. */
  validate(): void {
    for (const construct of this.app.node.findAll()) {
      for (const problem of construct.node.validate()) this.documentOf(construct)?.report.error('', problem);
    }
  }

  yaml(): string {
    return this.app.synthYaml();
  }

  private cluster({ document, props, schedules }: PlannedCluster): void {
    const cluster = new EtcdCluster(this.chart(document), idOf('EtcdCluster', document), {
      ...props,
      name: document.name,
      registry: this.options.registry,
      reconciler: this.options.reconciler === false ? EtcdReconciler.external() : undefined,
    });
    this.documents.set(cluster, document);
    this.clusters.set(this.key(document, document.name), cluster);
    for (const { id, options, stores, document: own } of schedules) {
      const schedule = cluster.addBackupSchedule(id, options);
      for (const { store, retention } of stores) schedule.addStore(store, { retention });
      if (own) this.documents.set(schedule, own);
    }
  }

  private schedule({ document, endpoints, tls, options }: PlannedSchedule): void {
    const { name } = document;
    const image = options.image ?? mirrored(agentImage, this.options.registry);
    // The ServiceAccount of a cluster has the name of the cluster alone.
    const cronJob = name.includes('backup') ? name : `${name}-backup`;
    const props = { ...options, cluster: name, name: cronJob, endpoints, tls, image };
    const schedule = new EtcdBackupSchedule(this.chart(document), idOf('EtcdBackupSchedule', document), props);
    this.documents.set(schedule, document);
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

  /** A backup of somebody else's etcd has no cluster that would bring the reconciler. */
  private reconciler({ document, clusterName }: PlannedBackup): void {
    const chart = this.chart(document);
    const isBrought = chart.node.children.some(
      (child) => child instanceof EtcdCluster || child instanceof EtcdReconciler,
    );
    if (this.options.reconciler === false || clusterName !== undefined || isBrought) return;
    const reconciler = new EtcdReconciler(chart, 'Reconciler', { registry: this.options.registry });
    this.documents.set(reconciler, document);
    document.report.note(
      'spec',
      `the reconciler '${reconciler.reconcilerName}' comes along, which takes the backup; where the namespace has one, leave it out with --no-reconciler`,
    );
  }

  private clusterOf(document: Document, name: string): IEtcdCluster {
    const found = this.clusters.get(this.key(document, name));
    const problem = nameProblem('clusterName', name);
    if (!found && problem) document.report.error('', problem);
    return found ?? new NamedCluster(name);
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

function idOf(kind: string, { name }: Document): string {
  return `${kind} ${name}`;
}
