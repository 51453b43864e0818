import { Construct } from 'constructs';
import type { BackupScheduleOptions } from './backup-schedule-options';
import type { ForeignEtcd } from './cluster-kind';
import { jobSelector } from './cluster-labels';
import { clusterNameProblem } from './cluster-name';
import { freeId, placed } from './construct-id';
import { endpointsProblems, endpointUrl } from './endpoints';
import type { EtcdAuth } from './etcd-auth';
import { EtcdBackupSchedule } from './etcd-backup-schedule';
import type { EtcdClientTls } from './etcd-client-tls';
import type { EtcdClusterAttributes, EtcdEndpointsOptions } from './etcd-cluster-attributes';
import type { IEtcdCluster } from './i-etcd-cluster';
import { requireKinds } from './kinds';
import { problemsOf } from './names';
import { attributesKinds, scheduleOptionsKinds } from './property-kinds';

/** An `EtcdCluster` that another app makes. */
export class ImportedEtcdCluster extends Construct implements IEtcdCluster {
  readonly clusterName: string;
  readonly clientEndpoints: string[];
  readonly clientTls?: EtcdClientTls;

  constructor(scope: Construct, id: string, attributes: EtcdClusterAttributes) {
    super(scope, freeId(scope, id));
    requireKinds(this, attributes, attributesKinds);
    const { clusterName, clientEndpoints, clientTls } = attributes;
    this.clusterName = clusterName;
    this.clientTls = clientTls;
    this.clientEndpoints = clientEndpoints.map((endpoint) => endpointUrl(endpoint, clientTls !== undefined));
    this.node.addValidation({ validate: () => this.problems() });
  }

  addBackupSchedule(id: string, options: BackupScheduleOptions): EtcdBackupSchedule {
    requireKinds(placed(this, id), options, scheduleOptionsKinds);
    // The cluster's NetworkPolicy finds the pods by them.
    const labels = { ...options.labels, ...jobSelector(this.clusterName) };
    return new EtcdBackupSchedule(this, id, { ...options, ...this.access(), labels });
  }

  protected access() {
    return { cluster: this.clusterName, endpoints: this.clientEndpoints, tls: this.clientTls };
  }

  private problems(): string[] {
    // Each schedule says the same of itself.
    if (this.node.children.some((child) => child instanceof EtcdBackupSchedule)) return [];
    return [
      ...problemsOf(clusterNameProblem('name', this.clusterName)),
      ...endpointsProblems(this.clientEndpoints, this.clientTls !== undefined),
      ...(this.clientTls?._problems() ?? []),
    ];
  }
}

/** Somebody else's etcd. */
export class ForeignEtcdCluster extends ImportedEtcdCluster implements ForeignEtcd {
  private readonly auth?: EtcdAuth;

  constructor(scope: Construct, id: string, endpoints: string[], { name = id, tls, auth }: EtcdEndpointsOptions) {
    super(scope, id, { clusterName: name, clientEndpoints: endpoints, clientTls: tls });
    this.auth = auth;
  }

  override addBackupSchedule(id: string, options: BackupScheduleOptions): EtcdBackupSchedule {
    requireKinds(placed(this, id), options, scheduleOptionsKinds);
    return new EtcdBackupSchedule(this, id, { ...options, ...this.access(), auth: this.auth });
  }

  /** @internal */
  _foreign(): { readonly auth?: EtcdAuth } {
    return { auth: this.auth };
  }
}
