import { join } from 'node:path';
import type { Client, Loss } from './client';
import { kubectl } from './kubectl';
import { MemberCluster, type MemberClusterOptions } from './member-cluster';
import { Namespace } from './namespace';

const crds = join(__dirname, '../../dist/crds.k8s.yaml');

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
}

/** A cluster with a client that writes and watches until the end. */
export class Play {
  static async begin(purpose: string, { size = 3, prepare, ...options }: PlayOptions = {}): Promise<Play> {
    await applyCrds();
    const namespace = await Namespace.create(purpose);
    await prepare?.(namespace);
    const cluster = await MemberCluster.create(namespace, options);
    const begun = Date.now();
    await cluster.apply({ size });
    await cluster.ready(size);
    tell(`${purpose}: formed ${seconds(Date.now() - begun)}`);
    return new Play(purpose, namespace, cluster, await cluster.client());
  }

  readonly losses: Loss[] = [];

  private constructor(
    readonly purpose: string,
    readonly namespace: Namespace,
    readonly cluster: MemberCluster,
    readonly client: Client,
  ) {}

  /** Does something, waits until the cluster is of this size, and tells how long that took and what clients saw of it. */
  async converges(what: string, size: number, work: () => Promise<unknown>): Promise<void> {
    const before = await this.client.facts();
    const begun = Date.now();
    await work();
    await this.cluster.ready(size);
    const took = Date.now() - begun;
    await this.writesOn();
    const { longestGap, elections } = await this.client.facts(before.now);
    const facts = [
      `${what} ${seconds(took)}`,
      `longest write gap ${seconds(longestGap)}`,
      `${elections - before.elections} elections`,
    ];
    tell(`${this.purpose}: ${facts.join(', ')}`);
  }

  /** Waits for writes that begin from now on. */
  async writesOn(): Promise<void> {
    const { written } = await this.client.facts();
    await this.namespace.until('more writes', 60, async () => {
      const now = await this.client.facts();
      return now.written > written + 10 ? now : undefined;
    });
  }

  /** Nothing that was acknowledged is lost but to a restore, and each epoch was one cluster. */
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

  /** Waits until a restore has verified its snapshot: what was written to this cluster after it is given up. */
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
