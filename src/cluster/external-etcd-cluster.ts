import { Construct } from 'constructs';
import { EtcdBackupSchedule } from '../backup/etcd-backup-schedule';
import type { BackupScheduleOptions } from '../backup/etcd-backup-schedule-props';
import type { ExistingEtcd } from '../backup/etcd-cluster-checks';
import type { IEtcdCluster } from '../backup/i-etcd-cluster';
import type { EtcdAuth } from '../etcd/etcd-auth';
import type { EtcdClientTls } from '../tls/etcd-client-tls';
import { futureConstruct, requireFreeId } from '../validation/construct-id';
import { endpointsProblems, endpointUrl } from '../validation/endpoints';
import { clusterNameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import { attributesTypes, scheduleOptionsTypes } from '../validation/property-types';
import { requireTypes } from '../validation/type-checks';
import { jobSelector } from './manifests/cluster-labels';

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

/** Describes an `EtcdCluster` in another app. `EtcdCluster` has properties with the same names. */
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
}

/** An `EtcdCluster` that another app creates. */
export class ImportedEtcdCluster extends Construct implements IEtcdCluster {
  readonly clusterName: string;
  readonly clientEndpoints: string[];
  readonly clientTls?: EtcdClientTls;

  constructor(scope: Construct, id: string, attributes: EtcdClusterAttributes) {
    super(scope, requireFreeId(scope, id));
    requireTypes(this, attributes, attributesTypes);
    const { clusterName, clientEndpoints, clientTls } = attributes;
    this.clusterName = clusterName;
    this.clientTls = clientTls;
    this.clientEndpoints = clientEndpoints.map((endpoint) => endpointUrl(endpoint, clientTls !== undefined));
    this.node.addValidation({ validate: () => this.problems() });
  }

  addBackupSchedule(id: string, options: BackupScheduleOptions): EtcdBackupSchedule {
    requireTypes(futureConstruct(this, id), options, scheduleOptionsTypes);
    // The cluster's NetworkPolicy selects the pods by these labels.
    const labels = { ...options.labels, ...jobSelector(this.clusterName) };
    return new EtcdBackupSchedule(this, id, { ...options, ...this.access(), labels });
  }

  protected access() {
    return { cluster: this.clusterName, endpoints: this.clientEndpoints, tls: this.clientTls };
  }

  private problems(): string[] {
    // Each schedule reports the same problems.
    if (this.node.children.some((child) => child instanceof EtcdBackupSchedule)) return [];
    return [
      ...problemsOf(clusterNameProblem('name', this.clusterName)),
      ...endpointsProblems(this.clientEndpoints, this.clientTls !== undefined),
      ...(this.clientTls?._problems() ?? []),
    ];
  }
}

/** An existing etcd cluster that something else runs. */
export class ExistingEtcdCluster extends ImportedEtcdCluster implements ExistingEtcd {
  private readonly auth?: EtcdAuth;

  constructor(scope: Construct, id: string, endpoints: string[], { name = id, tls, auth }: EtcdEndpointsOptions) {
    super(scope, id, { clusterName: name, clientEndpoints: endpoints, clientTls: tls });
    this.auth = auth;
  }

  override addBackupSchedule(id: string, options: BackupScheduleOptions): EtcdBackupSchedule {
    requireTypes(futureConstruct(this, id), options, scheduleOptionsTypes);
    return new EtcdBackupSchedule(this, id, { ...options, ...this.access(), auth: this.auth });
  }

  /** @internal */
  _existing(): { readonly auth?: EtcdAuth } {
    return { auth: this.auth };
  }
}
