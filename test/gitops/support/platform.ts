import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiObject, App, Chart, Cron, JsonPatch, Size } from 'cdk8s';
import type { Construct } from 'constructs';
import {
  BackupStore,
  EtcdCluster,
  type EtcdClusterProps,
  EtcdCrds,
  EtcdPermission,
  EtcdReconciler,
  EtcdScrape,
  EtcdVersion,
  ImagePullPolicy,
  PruneProtection,
  Retention,
} from '../../../src';
import { agentImage } from '../../e2e/support/settings';

export const teams = ['gitops-shop', 'gitops-billing'] as const;
/** The other name of a namespace that is renamed. */
export const otherName = 'gitops-store';
type Team = (typeof teams)[number];

/** The clusters of the platform, by their place. */
export const clusters = [
  ['gitops-shop', 'orders'],
  ['gitops-shop', 'search'],
  ['gitops-billing', 'invoices'],
] as const satisfies readonly (readonly [Team, string])[];

export type ClusterName = (typeof clusters)[number][1];

export interface Commit {
  /** What differs from three small clusters with TLS, a user and a schedule. Undefined: the file is not there. */
  readonly of?: Partial<Record<ClusterName, EtcdClusterProps | undefined>>;
  /** False: the CRDs are not there. */
  readonly crds?: boolean;
  /** The team `gitops-shop` has this namespace. */
  readonly shop?: string;
  /** The reconcilers give clients half a minute to read new files: agent/test/local/pods/agent-hasty.mts. */
  readonly isHasty?: boolean;
  /** What the chart of `orders` has besides, or what is changed in it. */
  readonly beside?: (chart: Chart, orders: EtcdCluster) => void;
}

const pull = { imagePullPolicy: ImagePullPolicy.IF_NOT_PRESENT };

const hasty = ['/usr/local/bin/node', '/opt/etcd-agent/bin/etcd-agent-hasty.mjs'];

/** A chart of one cluster, as the guide has it. */
class TeamEtcd extends Chart {
  readonly etcd: EtcdCluster;

  constructor(scope: Construct, namespace: string, name: ClusterName, props: EtcdClusterProps) {
    super(scope, `${namespace}-${name}`, { namespace });
    const etcd = new EtcdCluster(this, name, {
      ...{ size: 3, version: EtcdVersion.of('3.6.16'), volume: { size: Size.gibibytes(2) }, agentImage, ...pull },
      ...props,
    });
    this.etcd = etcd;
    etcd.addUser('app', { can: [EtcdPermission.readWrite('app/')] });
    etcd.addBackupSchedule('nightly', {
      ...{ schedule: Cron.daily(), store: BackupStore.filesystem({ claimName: 'backup' }), image: agentImage },
      retention: Retention.last(3),
      suspend: true,
    });
    etcd.addMonitoring({ scrape: EtcdScrape.annotations() });
  }
}

/** The only environment. */
export const environment = 'dist/production-eu';

/** Writes what a platform repository has into a folder. */
export class Platform {
  readonly folder = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-platform-'));

  write({ of = {}, beside, isHasty, crds: hasCrds = true, shop = 'gitops-shop' }: Commit = {}): string {
    const namespaceOf = (team: Team): string => (team === 'gitops-shop' ? shop : team);
    const dist = join(this.folder, environment);
    rmSync(dist, { recursive: true, force: true });
    const crds = new App({ outdir: join(dist, 'crds') });
    if (hasCrds) new EtcdCrds(new Chart(crds, 'crds'), 'crds');
    crds.synth();
    // Git keeps no empty folder, and Flux requires this one.
    mkdirSync(join(dist, 'crds'), { recursive: true });
    writeFileSync(join(dist, 'crds/README'), 'The CRDs\n');
    const app = new App({ outdir: join(dist, 'clusters') });
    for (const namespace of teams.map(namespaceOf)) {
      const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
      const metadata = { name: namespace, labels, annotations: PruneProtection.annotations() };
      new ApiObject(new Chart(app, namespace), 'namespace', { apiVersion: 'v1', kind: 'Namespace', metadata });
      const chart = new Chart(app, `${namespace}-etcd-reconciler`, { namespace });
      const { deployment } = new EtcdReconciler(chart, 'reconciler', { image: agentImage, ...pull });
      if (isHasty) deployment.addJsonPatch(JsonPatch.add('/spec/template/spec/containers/0/command', hasty));
    }
    for (const [team, name] of clusters) {
      if (name in of && of[name] === undefined) continue;
      const chart = new TeamEtcd(app, namespaceOf(team), name, of[name] ?? {});
      if (name === 'orders') beside?.(chart, chart.etcd);
    }
    app.synth();
    return this.folder;
  }

  end(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
