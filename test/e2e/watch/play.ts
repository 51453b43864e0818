import { join } from 'node:path';
import type { Client, Facts, Loss } from '../support/client';
import { kubectl } from '../support/kubectl';
import { MemberCluster, type MemberClusterOptions } from '../support/member-cluster';
import { Namespace } from '../support/namespace';

export const crds = join(__dirname, '../../../dist/crds.k8s.yaml');

export async function applyCrds(): Promise<void> {
  await kubectl(['apply', '--server-side', '-f', crds]);
  await kubectl(['wait', '--for=condition=Established', '--timeout=60s', '-f', crds]);
}

/** One line of the report. */
export const tell = (line: string): boolean => process.stdout.write(`e2e: ${line}\n`);

export interface PlayOptions extends MemberClusterOptions {
  /** Default 3. */
  readonly size?: number;
  /** Before the cluster is applied. */
  readonly prepare?: (namespace: Namespace) => Promise<unknown>;
  /** Number of members that the client knows. Default 5, the maximum. */
  readonly known?: number;
  /** The client's node may fail and return. */
  readonly clientOutlivesNode?: boolean;
  /** Namespace of the client, if not that of the cluster. */
  readonly clientInside?: Namespace;
  /** Creates the Secret of the client's certificate and returns its name. Default: that of the cluster. */
  readonly clientTlsSecret?: (namespace: Namespace) => Promise<string>;
  /** Labels of the client's pod. */
  readonly clientLabels?: Readonly<Record<string, string>>;
}

/** Effect of a change on a client; `elections` are only those during the change. */
export interface Convergence extends Facts {
  /** Time until the cluster was complete, in ms. */
  readonly took: number;
}

/** A cluster with a client that writes and watches until the end. */
export class Play {
  static async begin(purpose: string, options: PlayOptions = {}): Promise<Play> {
    const { size = 3, prepare, clientOutlivesNode, clientInside, clientLabels, clientTlsSecret } = options;
    await applyCrds();
    const namespace = await Namespace.create(purpose);
    await prepare?.(namespace);
    const cluster = await MemberCluster.create(namespace, options);
    const begun = Date.now();
    await cluster.apply({ size });
    await cluster.ready(size);
    tell(`${purpose}: formed ${seconds(Date.now() - begun)}`);
    const client = await cluster.client({
      outlivesNode: clientOutlivesNode,
      inside: clientInside,
      labels: clientLabels,
      ...(clientTlsSecret && { tlsSecret: await clientTlsSecret(namespace) }),
    });
    return new Play(purpose, namespace, cluster, client);
  }

  readonly losses: Loss[] = [];

  private constructor(
    readonly purpose: string,
    readonly namespace: Namespace,
    readonly cluster: MemberCluster,
    readonly client: Client,
  ) {}

  /** Does the work, waits until the cluster has this size, and returns the duration and the effect on clients. */
  async converges(what: string, size: number, work: () => Promise<unknown>): Promise<Convergence> {
    const before = await this.client.facts();
    const begun = Date.now();
    await work();
    await this.cluster.ready(size);
    const took = Date.now() - begun;
    await this.writesOn();
    const seen = await this.client.facts(before.now);
    const elections = seen.elections - before.elections;
    const facts = [
      `${what} ${seconds(took)}`,
      `longest write gap ${seconds(seen.longestGap)}`,
      `${elections} elections`,
    ];
    tell(`${this.purpose}: ${facts.join(', ')}`);
    return { ...seen, elections, took };
  }

  /** Converges, and expects no failed write of a client that retries for a second. */
  async unnoticed(what: string, size: number, work: () => Promise<unknown>): Promise<void> {
    const { failed, starved } = await this.converges(what, size, work);
    if (starved > 0) tell(`${this.purpose}: ${starved} writes in vain that do not count, as the machine was too busy`);
    expect(failed).toEqual([]);
  }

  /** Waits for writes that begin from now on. */
  async writesOn(): Promise<void> {
    const { written } = await this.client.facts();
    await this.namespace.until('more writes', 60, async () => {
      const now = await this.client.facts();
      return now.written > written + 10 ? now : undefined;
    });
  }

  /** Expects that no acknowledged write is lost except by a restore, and that each epoch was one cluster. */
  async ends(voters: number): Promise<void> {
    const epochs = this.losses.length + 1;
    const { clusterIds, written, wrong } = await this.client.judge(voters, this.losses);
    tell(
      `${this.purpose}: ${written} writes acknowledged, ${wrong.length} complaints, ${clusterIds.length} cluster ids`,
    );
    expect(wrong).toEqual([]);
    expect(clusterIds).toHaveLength(epochs);
    const { epoch, clusterId } = await this.cluster.record();
    expect([epoch, hex(clusterId)]).toEqual([epochs, hex(clusterIds.at(-1) ?? '')]);
  }

  /** Waits until a restore has verified its snapshot: later writes to this cluster are discarded. */
  async givesUp(): Promise<void> {
    const { clusterIds } = await this.client.facts();
    const { revision } = await this.namespace.until('a verified snapshot', 240, async () => {
      const { op } = await this.cluster.record();
      return op?.args?.verified;
    });
    this.losses.push({ clusterId: clusterIds.at(-1) ?? '', revision });
  }

  async end(): Promise<void> {
    await this.namespace.delete();
  }
}

const hex = (id: string): bigint => BigInt(`0x${id || '0'}`);

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
