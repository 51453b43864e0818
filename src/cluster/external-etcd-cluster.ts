import { Construct } from 'constructs';
import type { BackupScheduleOptions } from '../backup/backup-schedule-options';
import type { ForeignEtcd } from '../backup/cluster-kind';
import { EtcdBackupSchedule } from '../backup/etcd-backup-schedule';
import type { IEtcdCluster } from '../backup/i-etcd-cluster';
import type { EtcdAuth } from '../etcd/etcd-auth';
import type { EtcdClientTls } from '../tls/etcd-client-tls';
import { clusterNameProblem } from '../validation/cluster-name';
import { freeId, placed } from '../validation/construct-id';
import { endpointsProblems, endpointUrl } from '../validation/endpoints';
import { requireKinds } from '../validation/kinds';
import { problemsOf } from '../validation/names';
import { attributesKinds, scheduleOptionsKinds } from '../validation/property-kinds';
import type { EtcdClusterAttributes, EtcdEndpointsOptions } from './etcd-cluster-attributes';
import { jobSelector } from './manifests/cluster-labels';

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
