import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createCertificates, type TlsFiles } from './certificates.ts';
import { enableAuth, rootUser } from './etcd-auth.ts';
import { type EtcdBinaries, etcdOf, type Minor, newestEtcd } from './etcd-binaries.ts';
import { EtcdClient } from './etcd-client.ts';
import { EtcdMember } from './etcd-member.ts';
import { freePorts } from './free-ports.ts';
import { initialCluster, type MemberPlan, planMembers } from './member-plan.ts';

export interface EtcdClusterOptions {
  /** Default: the newest available one. */
  readonly minor?: Minor;
  /** Client URLs with TLS and client certificates: temporary ones, or these. Peers use plain HTTP. */
  readonly tls?: boolean | TlsFiles;
  /** Password auth: root with the root role, and `reader`, who may only read keys. */
  readonly auth?: boolean;
  readonly extraArgs?: readonly string[];
  /** Parent of the temporary directory. */
  readonly dataRoot?: string;
  /**
   * URL that a member advertises instead of its client URL, for example that of a proxy. Called before the member
   * starts.
   */
  readonly advertise?: (clientUrl: string) => string | Promise<string>;
}

export interface RestoredMember extends MemberPlan {
  readonly dataDir: string;
}

/** Real etcd processes on loopback. */
export class EtcdCluster extends EtcdClient implements AsyncDisposable {
  readonly members: readonly EtcdMember[];
  readonly #root: string;

  private constructor(root: string, binaries: EtcdBinaries, members: EtcdMember[], tls: TlsFiles | undefined) {
    super(
      binaries,
      members.map((member) => member.advertisedUrl),
      tls,
    );
    this.members = members;
    this.#root = root;
  }

  /** Starts a new, empty cluster. Resolves when every member is healthy. */
  static async start(options: EtcdClusterOptions & { readonly size?: 1 | 3 } = {}): Promise<EtcdCluster> {
    const root = await mkdtemp(join(options.dataRoot ?? tmpdir(), 'etcd-'));
    const plans = await planMembers(options.size ?? 1);
    const members = plans.map((plan) => ({ ...plan, dataDir: join(root, plan.name) }));
    const cluster = await EtcdCluster.#launch(root, members, options);
    if (options.auth) await enableAuth(cluster);
    return cluster;
  }

  /** Starts a cluster on restored data directories. `auth`: authentication is enabled in their data. */
  static async fromDataDirs(members: RestoredMember[], options: EtcdClusterOptions = {}): Promise<EtcdCluster> {
    const root = await mkdtemp(join(options.dataRoot ?? tmpdir(), 'etcd-'));
    const cluster = await EtcdCluster.#launch(root, members, options);
    if (options.auth) cluster.user = rootUser;
    return cluster;
  }

  static async #launch(root: string, plans: RestoredMember[], options: EtcdClusterOptions): Promise<EtcdCluster> {
    const binaries = options.minor ? etcdOf(options.minor) : newestEtcd();
    const tls = options.tls === true ? await createCertificates(join(root, 'tls')) : options.tls || undefined;
    const members = await makeMembers(root, plans, binaries, tls, options);
    const cluster = new EtcdCluster(root, binaries, members, tls);
    try {
      await Promise.all(members.map((member) => member.spawn()));
      await Promise.all(members.map((member) => member.healthy()));
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  member(i: number): EtcdMember {
    const member = this.members[i];
    if (!member) throw new Error(`there is no member ${i}`);
    return member;
  }

  /** Kills the members and removes the temporary directory. */
  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()));
    await rm(this.#root, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

async function makeMembers(
  root: string,
  plans: RestoredMember[],
  binaries: EtcdBinaries,
  tls: TlsFiles | undefined,
  { advertise = (url) => url, extraArgs = [] }: EtcdClusterOptions,
): Promise<EtcdMember[]> {
  const ports = await freePorts(plans.length);
  const args = [
    ...['--initial-cluster', initialCluster(plans), '--initial-cluster-token', basename(root), '--unsafe-no-fsync'],
    ...(tls ? ['--client-cert-auth', '--trusted-ca-file', tls.ca] : []),
    ...(tls ? ['--cert-file', tls.server.cert, '--key-file', tls.server.key] : []),
    ...extraArgs,
  ];
  const client = tls && { cert: await readFile(tls.client.cert), key: await readFile(tls.client.key) };
  return Promise.all(
    plans.map(async (plan, i) => {
      const clientUrl = `${tls ? 'https' : 'http'}://127.0.0.1:${ports[i]}`;
      const advertisedUrl = await advertise(clientUrl);
      const log = join(root, `${plan.name}.log`);
      return new EtcdMember({ ...plan, binaries, clientUrl, advertisedUrl, log, args, ...(client && { tls: client }) });
    }),
  );
}
