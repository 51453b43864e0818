import { createHash } from 'node:crypto';
import { ApiObject, type ApiObjectProps } from 'cdk8s';
import { Construct } from 'constructs';
import { ports } from '../etcd/cluster-ports';
import { mirrored } from '../etcd/etcd-image';
import { agentImage } from '../lib/agent-image';
import { namesakeProblems, takeName } from '../lib/name-registry';
import { policyPorts } from '../lib/network-access';
import { tellIfUnreleased } from '../lib/notices';
import { withPodFields } from '../lib/pod-fields';
import { podFieldsOf } from '../lib/pod-options';
import type { MonitoringOptions } from '../monitoring/monitoring-options';
import { overridden, overrideSpecs } from '../overrides/overrides';
import { futureConstruct, requireFreeId } from '../validation/construct-id';
import { nameOf } from '../validation/named';
import { externalReconcilerTypes, monitoringTypes, reconcilerTypes } from '../validation/property-types';
import { buildIfValid, requireTypes } from '../validation/type-checks';
import { EtcdReconcilerMonitoring } from './etcd-reconciler-monitoring';
import {
  defaultReconcilerName,
  type EtcdReconcilerProps,
  type ExternalReconcilerOptions,
  reconcilerRequirements,
} from './etcd-reconciler-props';
import type { IEtcdReconciler } from './i-etcd-reconciler';
import { reconcilerEgress } from './reconciler-network';
import { reconcilerLabels, reconcilerPod, reconcilerSelectorLabels, selectorText } from './reconciler-pod';
import { reconcilerProblems } from './reconciler-problems';
import { addReconciler } from './reconciler-registry';
import { namespaceRules } from './reconciler-rules';

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
      externalReconcilerTypes,
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
  private readonly props: EtcdReconcilerProps;

  /**
   * Creates the Deployment and what it needs.
   *
   * @param scope The chart, or a construct inside of one.
   * @param id An id that is unique within `scope`.
   * @param props The properties that differ from the defaults.
   */
  constructor(scope: Construct, id: string, props: EtcdReconcilerProps = {}) {
    super(scope, requireFreeId(scope, id));
    requireTypes(this, props, reconcilerTypes);
    this.props = props;
    this.reconcilerName = props.name ?? defaultReconcilerName;
    this.serviceAccountName = nameOf(props.serviceAccountName) ?? this.reconcilerName;
    this.leaseName = leaseName(this.reconcilerName, props.selector);
    const { manifests, problems } = overridden(this.manifests(), overrideSpecs(props.overrides), targets);
    const objects = new Map([...manifests].map(([kind, manifest]) => [kind, this.object(kind, manifest)]));
    this.serviceAccount = objects.get('ServiceAccount');
    this.role = objects.get('Role')!;
    this.roleBinding = objects.get('RoleBinding')!;
    this.deployment = objects.get('Deployment')!;
    this.service = objects.get('Service')!;
    this.networkPolicy = objects.get('NetworkPolicy')!;
    this.node.defaultChild = this.deployment;
    addReconciler(this);
    tellIfUnreleased(this, this.image());
    this.node.addValidation({
      validate: () => [...reconcilerProblems(this, props), ...problems, ...this.nameProblems()],
    });
  }

  /**
   * Adds what Prometheus needs to monitor the reconciler itself: what to scrape, who may connect, alerts and a dashboard.
   * What the reconciler does to a cluster, and that nobody looks after one, is part of the monitoring of that cluster. No
   * alert fires here while `EtcdReconcilerDown` of a cluster reports the same.
   *
   * @param options What differs from the defaults.
   */
  addMonitoring(options: MonitoringOptions = {}): EtcdReconcilerMonitoring {
    requireTypes(futureConstruct(this, 'Monitoring'), options, monitoringTypes);
    const { replicas = 1, labels } = this.props;
    return EtcdReconcilerMonitoring._of(this, { name: this.reconcilerName, replicas, labels }, options);
  }

  /** @internal */
  _selector(): { readonly [name: string]: string } | undefined {
    return this.props.selector;
  }

  /** The objects in the order in which they are applied, by their kinds, which are the ids of their constructs, too. */
  private manifests(): Map<string, ApiObjectProps> {
    const name = this.reconcilerName;
    const { labels, annotations, serviceAccountName, serviceAccountAnnotations } = this.props;
    const object = (apiVersion: string, kind: string, content: object, own?: Labels): [string, ApiObjectProps] => {
      const all = { ...annotations, ...own };
      const isAnnotated = Object.keys(all).length > 0;
      const metadata = { name, labels: reconcilerLabels(name, labels), ...(isAnnotated && { annotations: all }) };
      return [kind, { apiVersion, kind, metadata, ...content }];
    };
    const account = { automountServiceAccountToken: false };
    const rbac = 'rbac.authorization.k8s.io';
    return new Map([
      ...(serviceAccountName === undefined ? [object('v1', 'ServiceAccount', account, serviceAccountAnnotations)] : []),
      object(`${rbac}/v1`, 'Role', { rules: namespaceRules(name, this.leaseName) }),
      object(`${rbac}/v1`, 'RoleBinding', {
        roleRef: { apiGroup: rbac, kind: 'Role', name },
        subjects: [{ kind: 'ServiceAccount', name: this.serviceAccountName }],
      }),
      object('apps/v1', 'Deployment', { spec: this.deploymentSpec() }),
      object('v1', 'Service', {
        spec: {
          selector: reconcilerSelectorLabels(name),
          ports: [{ name: 'metrics', port: ports.agent, targetPort: ports.agent, protocol: 'TCP' }],
        },
      }),
      object('networking.k8s.io/v1', 'NetworkPolicy', { spec: this.networkPolicySpec() }),
    ]);
  }

  private object(kind: string, manifest: ApiObjectProps): ApiObject {
    takeName(this, kind, this.reconcilerName);
    return new ApiObject(this, kind, manifest);
  }

  private image(): string {
    return this.props.image ?? mirrored(agentImage, this.props.registry);
  }

  private nameProblems(): string[] {
    const { deployment, serviceAccount, role, service, networkPolicy } = this;
    const objects = [deployment, ...(serviceAccount ? [serviceAccount] : []), role, service, networkPolicy];
    const [reconciler, ...others] = objects.map(({ kind, name }) =>
      namesakeProblems(this, kind, kind === 'Deployment' ? 'reconciler' : kind, name),
    );
    return reconciler!.length > 0 ? reconciler! : others.flat();
  }

  private deploymentSpec(): object {
    const { props, reconcilerName } = this;
    const { replicas = 1 } = props;
    const selectorLabels = reconcilerSelectorLabels(reconcilerName);
    return {
      replicas,
      selector: { matchLabels: selectorLabels },
      revisionHistoryLimit: props.revisionHistoryLimit,
      template: withPodFields(
        this.pod(),
        { ...podFieldsOf(props), sidecars: props.sidecars },
        { reconciler: props.container },
      ),
    };
  }

  private pod(): object {
    const { props, reconcilerName } = this;
    return reconcilerPod({
      name: reconcilerName,
      serviceAccountName: this.serviceAccountName,
      lease: this.leaseName,
      selector: props.selector,
      image: this.image(),
      imagePullPolicy: props.imagePullPolicy,
      imagePullSecrets: props.imagePullSecrets?.map((secret) => nameOf(secret)),
      resources: reconcilerRequirements(props.resources ?? {}),
      spread: (props.replicas ?? 1) > 1,
      labels: reconcilerLabels(reconcilerName, props.labels),
      selectorLabels: reconcilerSelectorLabels(reconcilerName),
      nodeSelector: props.nodeSelector,
      tolerations: props.tolerations,
      priorityClassName: props.priorityClassName,
    });
  }

  private networkPolicySpec(): object {
    const { metricsAccess, egress } = this.props;
    const peers = metricsAccess?._peers() ?? [];
    const metrics = { ports: policyPorts([ports.agent]) };
    const rule = peers === 'any' ? metrics : { from: peers, ...metrics };
    return {
      podSelector: { matchLabels: reconcilerSelectorLabels(this.reconcilerName) },
      policyTypes: egress ? ['Ingress', 'Egress'] : ['Ingress'],
      // An empty `from` would allow every client.
      ingress: peers.length > 0 ? [rule] : undefined,
      egress: egress && reconcilerEgress(egress),
    };
  }
}

/** What overrides of a reconciler can change. */
const targets = ['ReconcilerPods', 'Deployment', 'Services', 'ServiceAccounts'] as const;

type Labels = Readonly<Record<string, string>>;

/** Two reconcilers with different selectors must not share a Lease. */
function leaseName(name: string, selector: EtcdReconcilerProps['selector']): string {
  if (!selector) return name;
  return `${name}-${createHash('sha256').update(selectorText(selector)).digest('hex').slice(0, 8)}`;
}

/** A reconciler that another app creates. */
class ExternalEtcdReconciler implements IEtcdReconciler {
  readonly reconcilerName: string;
  readonly serviceAccountName: string;

  constructor({ name = defaultReconcilerName, serviceAccountName = name }: ExternalReconcilerOptions) {
    this.reconcilerName = name;
    this.serviceAccountName = nameOf(serviceAccountName);
  }
}
