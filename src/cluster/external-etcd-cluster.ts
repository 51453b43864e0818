import { Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { EtcdBackupSchedule } from '../backup/etcd-backup-schedule';
import type { BackupScheduleOptions } from '../backup/etcd-backup-schedule-props';
import type { ExistingEtcd } from '../backup/etcd-cluster-checks';
import type { IEtcdCluster } from '../backup/i-etcd-cluster';
import type { ClientAccess } from '../clients/client-access';
import { clusterNames, ownNameProblem } from '../etcd/cluster-names';
import type { EtcdAuth } from '../etcd/etcd-auth';
import { EtcdReconciler } from '../reconciler/etcd-reconciler';
import type { IEtcdReconciler } from '../reconciler/i-etcd-reconciler';
import { defaults } from '../resource/defaults';
import type { EtcdClientTls } from '../tls/etcd-client-tls';
import { EtcdTls } from '../tls/etcd-tls';
import { readTls } from '../tls/tls-binding';
import type { ClusterWithUsers, UserAccess } from '../users/user-access';
import { futureConstruct, requireFreeId } from '../validation/construct-id';
import { endpointsProblems, endpointUrl } from '../validation/endpoints';
import { clusterNameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import * as types from '../validation/property-types';
import { requireTypes } from '../validation/type-checks';
import { memberSelector, monitored } from './manifests/cluster-labels';
import { type MembersAsPeer, membersAsPeer, openOnlyForClients } from './members-as-peer';
import type { ClusterWithMetrics, MonitoredCluster } from './monitoring/monitored-cluster';

/** Configures `EtcdCluster.fromEndpoints`. */
export interface EtcdEndpointsOptions {
  /**
   * Sets the name under which the backups are stored: up to 63 letters, digits, `-`, `_` and `.`.
   * @default - the construct's id
   */
  readonly name?: string;
  /**
   * Gives clients their TLS settings, if etcd uses TLS.
   * @default - plain http
   */
  readonly tls?: EtcdClientTls;
  /**
   * Selects the etcd user to log in as.
   * @default - none: etcd's authentication is off, or the client certificate identifies the user
   */
  readonly auth?: EtcdAuth;
}

/** Describes an `EtcdCluster` in another app. Except for the last two, `EtcdCluster` has properties with the same names. */
export interface EtcdClusterAttributes {
  /** Names the cluster. */
  readonly clusterName: string;
  /** Lists the client URL of each member. */
  readonly clientEndpoints: string[];
  /**
   * Gives clients their TLS settings: `EtcdClientTls.fromSecret(clientTlsSecretName)`.
   * @default - plain http
   */
  readonly clientTls?: EtcdClientTls;
  /**
   * Lists the URL of each member for backups. With users of etcd, backups are possible only there.
   * @default - `clientEndpoints`
   */
  readonly backupEndpoints?: string[];
  /**
   * Gives backups their TLS settings.
   * @default - `clientTls`
   */
  readonly backupTls?: EtcdClientTls;
  /**
   * Selects who issues the certificates of the cluster, for those of its users (`EtcdUser`).
   * @default - EtcdTls.managed() with `clientTls`, else EtcdTls.none()
   */
  readonly tls?: EtcdTls;
  /**
   * Selects the reconciler of the cluster, which may then write the certificates and passwords of its users (`EtcdUser`).
   * @default EtcdReconciler.external()
   */
  readonly reconciler?: IEtcdReconciler;
}

/** An etcd cluster that this app does not create: its endpoints, and the schedules that back it up. */
abstract class KnownEtcdCluster extends Construct implements IEtcdCluster {
  readonly clusterName: string;
  readonly clientEndpoints: string[];
  readonly clientTls?: EtcdClientTls;

  constructor(scope: Construct, id: string, attributes: EtcdClusterAttributes) {
    super(scope, requireFreeId(scope, id));
    requireTypes(this, attributes, types.EtcdClusterAttributes);
    const { clusterName, clientEndpoints, clientTls } = attributes;
    this.clusterName = clusterName;
    this.clientTls = clientTls;
    this.clientEndpoints = clientEndpoints.map((endpoint) => endpointUrl(endpoint, clientTls !== undefined));
    this.node.addValidation({ validate: () => this.problems() });
  }

  abstract addBackupSchedule(id: string, options: BackupScheduleOptions): EtcdBackupSchedule;
  abstract toNetworkPolicyPeerConfig(): MembersAsPeer;
  abstract toPodSelectorConfig(): MembersAsPeer['podSelector'];

  toPodSelector(): KnownEtcdCluster {
    return this;
  }

  protected nameProblem(): string | undefined {
    return clusterNameProblem('name', this.clusterName);
  }

  private problems(): string[] {
    // Each schedule reports the same problems.
    if (this.node.children.some((child) => child instanceof EtcdBackupSchedule)) return [];
    return [
      ...problemsOf(this.nameProblem()),
      ...endpointsProblems(this.clientEndpoints, this.clientTls !== undefined),
      ...(this.clientTls?._problems() ?? []),
    ];
  }
}

/** An `EtcdCluster` that another app creates. */
export class ImportedEtcdCluster extends KnownEtcdCluster implements ClusterWithUsers, ClusterWithMetrics {
  private readonly attributes: EtcdClusterAttributes;

  constructor(scope: Construct, id: string, attributes: EtcdClusterAttributes) {
    super(scope, id, attributes);
    this.attributes = attributes;
    openOnlyForClients(this);
  }

  toNetworkPolicyPeerConfig(): MembersAsPeer {
    return membersAsPeer(this, this.clusterName);
  }

  toPodSelectorConfig(): MembersAsPeer['podSelector'] {
    return membersAsPeer(this, this.clusterName).podSelector;
  }

  protected override nameProblem(): string | undefined {
    return ownNameProblem(this.clusterName);
  }

  addBackupSchedule(id: string, options: BackupScheduleOptions): EtcdBackupSchedule {
    requireTypes(futureConstruct(this, id), options, types.BackupScheduleOptions);
    const { clusterName: cluster, attributes } = this;
    return new EtcdBackupSchedule(this, id, {
      ...options,
      cluster,
      endpoints: attributes.backupEndpoints ?? this.clientEndpoints,
      _clientEndpoints: this.clientEndpoints,
      _record: clusterNames(cluster).record,
      tls: attributes.backupTls ?? this.clientTls,
    });
  }

  /** @internal */
  _monitored(): MonitoredCluster {
    const { reconciler = EtcdReconciler.external() } = this.attributes;
    return {
      ...monitored(this.clusterName, Chart.of(this).namespace),
      reconciler: () => reconciler.reconcilerName,
      clientTls: this.clientTls,
      agentTls: this.clientTls,
    };
  }

  /** @internal */
  _clientAccess(): ClientAccess {
    return { memberSelector: memberSelector(this.clusterName) };
  }

  /** @internal */
  _userAccess(): UserAccess {
    const { clusterName: name, clientTls, attributes } = this;
    const tls = attributes.tls ?? (clientTls ? EtcdTls.managed() : EtcdTls.none());
    const named = { name, namespace: Chart.of(this).namespace };
    return {
      tls: readTls(tls._spec(named).spec, { ...named, clusterDomain: defaults.EtcdClusterSpec.clusterDomain }),
      reconcilerAccount: (attributes.reconciler ?? EtcdReconciler.external()).serviceAccountName,
    };
  }
}

/** An existing etcd cluster that something else runs. */
export class ExistingEtcdCluster extends KnownEtcdCluster implements ExistingEtcd {
  private readonly auth?: EtcdAuth;

  constructor(scope: Construct, id: string, endpoints: string[], { name = id, tls, auth }: EtcdEndpointsOptions) {
    super(scope, id, { clusterName: name, clientEndpoints: endpoints, clientTls: tls });
    this.auth = auth;
  }

  addBackupSchedule(id: string, options: BackupScheduleOptions): EtcdBackupSchedule {
    requireTypes(futureConstruct(this, id), options, types.BackupScheduleOptions);
    const { clusterName: cluster, clientEndpoints: endpoints, clientTls: tls, auth } = this;
    return new EtcdBackupSchedule(this, id, { ...options, cluster, endpoints, tls, auth });
  }

  toNetworkPolicyPeerConfig(): MembersAsPeer {
    throw new Error(
      `${this.node.path}: is known by its endpoints only, and a network policy needs pods or addresses; give cdk8s-plus a NetworkPolicyIpBlock with those of etcd`,
    );
  }

  toPodSelectorConfig(): MembersAsPeer['podSelector'] {
    return this.toNetworkPolicyPeerConfig().podSelector;
  }

  /** @internal */
  _existing(): { readonly auth?: EtcdAuth } {
    return { auth: this.auth };
  }
}
