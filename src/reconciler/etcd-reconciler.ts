import { createHash } from 'node:crypto';
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { ports } from '../etcd/cluster-ports';
import { mirrored } from '../etcd/etcd-image';
import { agentImage } from '../lib/agent-image';
import { namesakeProblems, takeName } from '../lib/name-registry';
import { freeId } from '../validation/construct-id';
import { built, requireKinds } from '../validation/kinds';
import { externalReconcilerKinds, reconcilerKinds } from '../validation/property-kinds';
import {
  defaultReconcilerName,
  type EtcdReconcilerProps,
  type ExternalReconcilerOptions,
} from './etcd-reconciler-props';
import { ExternalEtcdReconciler } from './external-etcd-reconciler';
import type { IEtcdReconciler } from './i-etcd-reconciler';
import { reconcilerLabels, reconcilerSelectorLabels } from './reconciler-labels';
import { reconcilerPod, selectorText } from './reconciler-pod';
import { reconcilerProblems } from './reconciler-problems';
import { addReconciler } from './reconciler-registry';
import { reconcilerRequirements } from './reconciler-resources';
import { namespaceRules } from './reconciler-rules';

/**
 * Grows, shrinks, upgrades, repairs and restores all clusters of its namespace, and takes the backups of `EtcdBackup`
 * resources. Clusters serve without it.
 *
 * A cluster brings one when its namespace has none. Make one yourself to give it properties: it then serves all clusters
 * of the namespace, wherever in the app they are. Charts without a namespace count as one namespace.
 */
export class EtcdReconciler extends Construct implements IEtcdReconciler {
  /** A reconciler that another app owns, in the namespace of the cluster that it is given to. */
  static external(options: ExternalReconcilerOptions = {}): IEtcdReconciler {
    return built(
      ExternalEtcdReconciler.prototype,
      options,
      externalReconcilerKinds,
      () => new ExternalEtcdReconciler(options),
    );
  }

  /** The name of the Deployment. */
  readonly reconcilerName: string;
  /** The name of the ServiceAccount. */
  readonly serviceAccountName: string;
  /** The name of the Lease that the active one of its pods holds. */
  readonly leaseName: string;
  /** The ServiceAccount. */
  readonly serviceAccount: ApiObject;
  /** The Role. Each cluster grants its own beside it. */
  readonly role: ApiObject;
  /** The RoleBinding. */
  readonly roleBinding: ApiObject;
  /** The Lease. */
  readonly lease: ApiObject;
  /** The Deployment. */
  readonly deployment: ApiObject;
  /** The Service that metrics are found by. */
  readonly service: ApiObject;
  /** The NetworkPolicy. */
  readonly networkPolicy: ApiObject;
  private readonly props: EtcdReconcilerProps;

  constructor(scope: Construct, id: string, props: EtcdReconcilerProps = {}) {
    super(scope, freeId(scope, id));
    requireKinds(this, props, reconcilerKinds);
    this.props = props;
    this.reconcilerName = props.name ?? defaultReconcilerName;
    this.serviceAccountName = this.reconcilerName;
    this.leaseName = leaseName(this.reconcilerName, props.selector);
    this.serviceAccount = this.object('v1', 'ServiceAccount', { automountServiceAccountToken: false });
    this.role = this.object('rbac.authorization.k8s.io/v1', 'Role', {
      rules: namespaceRules(this.reconcilerName, this.leaseName),
    });
    this.roleBinding = this.object('rbac.authorization.k8s.io/v1', 'RoleBinding', {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: this.reconcilerName },
      subjects: [{ kind: 'ServiceAccount', name: this.serviceAccountName }],
    });
    // Its holder is written at run time, so there is no spec here.
    this.lease = this.object('coordination.k8s.io/v1', 'Lease', {}, this.leaseName);
    this.deployment = this.object('apps/v1', 'Deployment', { spec: this.deploymentSpec() });
    this.service = this.object('v1', 'Service', {
      spec: {
        selector: reconcilerSelectorLabels(this.reconcilerName),
        ports: [{ name: 'metrics', port: ports.agent, targetPort: ports.agent, protocol: 'TCP' }],
      },
    });
    this.networkPolicy = this.object('networking.k8s.io/v1', 'NetworkPolicy', { spec: this.networkPolicySpec() });
    addReconciler(this);
    this.node.addValidation({
      validate: () => [...reconcilerProblems(this, props), ...this.nameProblems()],
    });
  }

  /** @internal */
  _selector(): { readonly [name: string]: string } | undefined {
    return this.props.selector;
  }

  private object(apiVersion: string, kind: string, content: object, name = this.reconcilerName): ApiObject {
    takeName(this, kind, name);
    const metadata = { name, labels: reconcilerLabels(this.reconcilerName, this.props.labels) };
    return new ApiObject(this, kind, { apiVersion, kind, metadata, ...content });
  }

  private nameProblems(): string[] {
    const { deployment, serviceAccount, role, service, networkPolicy } = this;
    const [reconciler, ...others] = [deployment, serviceAccount, role, service, networkPolicy].map(({ kind, name }) =>
      namesakeProblems(this, kind, kind === 'Deployment' ? 'reconciler' : kind, name),
    );
    return reconciler!.length > 0 ? reconciler! : others.flat();
  }

  private deploymentSpec(): object {
    const { props, reconcilerName } = this;
    const selectorLabels = reconcilerSelectorLabels(reconcilerName);
    return {
      replicas: props.replicas ?? 1,
      selector: { matchLabels: selectorLabels },
      template: reconcilerPod({
        name: reconcilerName,
        lease: this.leaseName,
        selector: props.selector,
        image: props.image ?? mirrored(agentImage, props.registry),
        imagePullPolicy: props.imagePullPolicy,
        imagePullSecrets: props.imagePullSecrets,
        resources: reconcilerRequirements(props.resources ?? {}),
        spread: (props.replicas ?? 1) > 1,
        labels: reconcilerLabels(reconcilerName, props.labels),
        selectorLabels,
        nodeSelector: props.nodeSelector,
        tolerations: props.tolerations,
        priorityClassName: props.priorityClassName,
      }),
    };
  }

  private networkPolicySpec(): object {
    const peers = this.props.metricsAccess?._peers() ?? [];
    const metrics = { ports: [{ port: ports.agent, protocol: 'TCP' }] };
    const rule = peers === 'any' ? metrics : { from: peers, ...metrics };
    return {
      podSelector: { matchLabels: reconcilerSelectorLabels(this.reconcilerName) },
      policyTypes: ['Ingress'],
      // An empty `from` would be everyone.
      ingress: peers.length > 0 ? [rule] : undefined,
    };
  }
}

/** Two reconcilers with different selectors must not share a Lease. */
function leaseName(name: string, selector: EtcdReconcilerProps['selector']): string {
  if (!selector) return name;
  return `${name}-${createHash('sha256').update(selectorText(selector)).digest('hex').slice(0, 8)}`;
}
