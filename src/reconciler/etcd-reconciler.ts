import { ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { resourcesPropNames } from '../backup/backup-resources';
import type { Manifest } from '../lib/manifest';
import { namesakeProblems, takeName } from '../lib/name-registry';
import { tellIfUnreleased } from '../lib/notices';
import { type MonitoringOptions, monitoringSpec } from '../monitoring/monitoring-options';
import { overridden, podFieldProblems } from '../overrides/overrides';
import { defaults } from '../resource/defaults';
import { inside, propProblems, withFound } from '../resource/prop-problems';
import { fieldProblems } from '../resource/resource-problems';
import { resourceYaml } from '../resource/resource-yaml';
import type { EtcdReconcilerSpec, MonitoringSpec } from '../resource/types';
import { futureConstruct, requireFreeId } from '../validation/construct-id';
import { nameOf } from '../validation/named';
import { problemsOf } from '../validation/problems';
import * as types from '../validation/property-types';
import { buildIfValid, requireTypes } from '../validation/type-checks';
import { EtcdReconcilerMonitoring } from './etcd-reconciler-monitoring';
import {
  defaultReconcilerName,
  type EtcdReconcilerProps,
  type ExternalReconcilerOptions,
  reconcilerSpec,
} from './etcd-reconciler-props';
import type { IEtcdReconciler } from './i-etcd-reconciler';
import { leaseName, reconcilerAccount, reconcilerImage, reconcilerObjects } from './reconciler-manifests';
import { memoryProblem, mostClusters, reconcilerProblems } from './reconciler-problems';
import { addReconciler } from './reconciler-registry';

/**
 * Grows, shrinks, upgrades, repairs and restores all clusters of its namespace, and takes the backups of `EtcdBackup`
 * resources. Clusters serve clients without it.
 *
 * A cluster creates a reconciler if its namespace has none, for the clusters of its chart. Create one yourself to set its
 * properties, or for clusters in several charts: it then manages all clusters of the namespace, wherever they are in the
 * app. All charts without a namespace count as one namespace.
 */
export class EtcdReconciler extends Construct implements IEtcdReconciler {
  /** Refers to a reconciler that another app creates, in the namespace of the cluster for which you use it. */
  static external(options: ExternalReconcilerOptions = {}): IEtcdReconciler {
    return buildIfValid(
      ExternalEtcdReconciler.prototype,
      options,
      types.ExternalReconcilerOptions,
      () => new ExternalEtcdReconciler(options),
    );
  }

  /** Names the Deployment. */
  readonly reconcilerName: string;
  /** Names the ServiceAccount. */
  readonly serviceAccountName: string;
  /** Names the Lease, which ensures that only one pod is active. The reconciler creates it. */
  readonly leaseName: string;
  /** The reconciler runs as this ServiceAccount. It is undefined if `serviceAccountName` names an existing one. */
  readonly serviceAccount?: ApiObject;
  /**
   * This Role holds the permissions for the namespace. Each cluster grants further permissions with a Role of its own.
   */
  readonly role: ApiObject;
  /** This RoleBinding grants `role` to the reconciler. */
  readonly roleBinding: ApiObject;
  /** This Deployment runs the reconciler. */
  readonly deployment: ApiObject;
  /** This Service provides the metrics. */
  readonly service: ApiObject;
  /** This NetworkPolicy limits the connections of the reconciler. */
  readonly networkPolicy: ApiObject;
  private readonly spec: EtcdReconcilerSpec;
  private readonly clusters: number;
  private monitoring?: EtcdReconcilerMonitoring;

  /**
   * Creates the Deployment and what it needs.
   *
   * @param scope The chart, or a construct inside of one.
   * @param id An id that is unique within `scope`.
   * @param props The properties that differ from the defaults.
   */
  constructor(scope: Construct, id: string, props: EtcdReconcilerProps = {}) {
    super(scope, requireFreeId(scope, id));
    requireTypes(this, props, types.EtcdReconcilerProps);
    const name = props.name ?? defaultReconcilerName;
    this.spec = props._written ?? reconcilerSpec(props);
    this.reconcilerName = name;
    this.serviceAccountName = reconcilerAccount(name, this.spec);
    this.leaseName = leaseName(name, this.spec.selector);
    const before = reconcilerObjects(name, this.spec);
    const { manifests, problems } = overridden(before, this.spec.overrides, { targets });
    this.clusters = mostClusters(manifests.get('Deployment')!);
    const memory = memoryProblem(manifests.get('Deployment')!);
    const isOfField = memory === memoryProblem(before.get('Deployment')!);
    const faults = [
      ...podFieldProblems(before.values(), { target: 'ReconcilerPods' }),
      ...problemsOf(memory && `${isOfField ? 'resources' : 'overrides'}: ${memory}`),
    ];
    const objects = new Map([...manifests].map(([kind, manifest]) => [kind, this.object(manifest)]));
    this.serviceAccount = objects.get('ServiceAccount');
    this.role = objects.get('Role')!;
    this.roleBinding = objects.get('RoleBinding')!;
    this.deployment = objects.get('Deployment')!;
    this.service = objects.get('Service')!;
    this.networkPolicy = objects.get('NetworkPolicy')!;
    this.node.defaultChild = this.deployment;
    addReconciler(this);
    tellIfUnreleased(this, reconcilerImage(this.spec));
    this.node.addValidation({ validate: () => this.problems([...faults, ...problems], props._written !== undefined) });
  }

  /**
   * Adds what Prometheus needs to monitor the reconciler itself: what to scrape, who may connect, alerts and a dashboard.
   * What the reconciler does to a cluster, and that nobody looks after one, is part of the monitoring of that cluster. No
   * alert fires here while `EtcdReconcilerDown` of a cluster reports the same.
   *
   * @param options What differs from the defaults.
   */
  addMonitoring(options: MonitoringOptions = {}): EtcdReconcilerMonitoring {
    requireTypes(futureConstruct(this, 'Monitoring'), options, types.MonitoringOptions);
    return this._addMonitoring(monitoringSpec(options));
  }

  /**
   * Adds the monitoring as the resource has it.
   * @internal
   */
  _addMonitoring(spec: MonitoringSpec): EtcdReconcilerMonitoring {
    const { replicas = defaults.EtcdReconcilerSpec.replicas, labels, annotations } = this.spec;
    const monitored = { name: this.reconcilerName, replicas, labels, annotations };
    this.monitoring = EtcdReconcilerMonitoring._of(this, monitored, spec);
    return this.monitoring;
  }

  /**
   * Returns the EtcdReconciler resource from which `cdk8s-etcd render` makes the same objects. It is YAML for a repository without
   * TypeScript, not for the API server.
   */
  resourceYaml(): string {
    const { reconcilerName: name, spec, monitoring } = this;
    const { namespace } = Chart.of(this);
    return resourceYaml('EtcdReconciler', { name, namespace }, { ...spec, monitoring: monitoring?._spec });
  }

  /** @internal */
  _selector(): { readonly [name: string]: string } | undefined {
    return this.spec.selector;
  }

  /** @internal */
  _mostClusters(): number {
    return this.clusters;
  }

  private object(manifest: Manifest): ApiObject {
    const { kind, metadata } = manifest;
    takeName(this, kind, metadata.name);
    return new ApiObject(this, kind, { ...manifest, metadata });
  }

  private problems(ofObjects: readonly string[], isWritten: boolean): string[] {
    const own = [...ofObjects, ...reconcilerProblems(this, this.spec), ...this.nameProblems()];
    // What its schema reports of a resource.
    if (isWritten) return own;
    const found = fieldProblems('EtcdReconciler', 'spec', this.spec);
    return withFound(own, propProblems(found, inside('resources', resourcesPropNames)));
  }

  private nameProblems(): string[] {
    const { deployment, serviceAccount, role, service, networkPolicy } = this;
    const objects = [deployment, ...(serviceAccount ? [serviceAccount] : []), role, service, networkPolicy];
    const [reconciler, ...others] = objects.map(({ kind, name }) =>
      namesakeProblems(this, kind, kind === 'Deployment' ? 'reconciler' : kind, name),
    );
    return reconciler!.length > 0 ? reconciler! : others.flat();
  }
}

/** What overrides of a reconciler can change. */
const targets = ['ReconcilerPods', 'Deployment', 'Services', 'ServiceAccounts'] as const;

/** A reconciler that another app creates. */
class ExternalEtcdReconciler implements IEtcdReconciler {
  readonly reconcilerName: string;
  readonly serviceAccountName: string;

  constructor({ name = defaultReconcilerName, serviceAccountName = name }: ExternalReconcilerOptions) {
    this.reconcilerName = name;
    this.serviceAccountName = nameOf(serviceAccountName);
  }
}

/** One that something else creates, of which the resource of its cluster does not speak. */
export const unnamedReconciler: IEtcdReconciler = new ExternalEtcdReconciler({});
