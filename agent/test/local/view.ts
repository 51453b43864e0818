import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterSpec } from '../../src/controllers/port/observed.ts';
import type { AgentStatus } from '../../src/protocol/agent-status.ts';
import type { ClusterStatus, ReportedCondition } from '../../src/protocol/cluster-status.ts';
import type { ConditionType } from '../../src/protocol/condition.ts';
import type { RecordDoc, Scheme } from '../../src/protocol/record.ts';
import { minorOf } from '../../src/protocol/versions.ts';
import type { TlsFiles } from '../harness/certificates.ts';
import { etcdOf, type Minor } from '../harness/etcd-binaries.ts';
import { EtcdClient } from '../harness/etcd-client.ts';
import { get } from './get.ts';
import {
  type ClusterObject,
  clusterOf,
  podOf,
  podsOf,
  type RestoreObject,
  rootTlsOf,
  statefulSetOf,
  type WorldFile,
} from './objects.ts';
import { agentUrlOf, clientUrlOf, schemeOf } from './port.ts';
import { RecordFile } from './record-file.ts';
import { FileStore } from './store.ts';

const patience = 90;

/** The state of a local cluster, visible from any process. */
export class ClusterView {
  readonly dir: string;
  readonly world: WorldFile;
  readonly store: FileStore;
  readonly recordFile: RecordFile;
  #scheme: Scheme;

  constructor(dir: string, world: WorldFile) {
    this.dir = dir;
    this.world = world;
    this.#scheme = schemeOf(world.tls);
    this.store = new FileStore(join(dir, 'api'));
    this.recordFile = new RecordFile(this.store);
  }

  /** Client URLs of all ordinals, 0 to 6, by the scheme that clients use. */
  get endpoints(): readonly string[] {
    return this.world.ports.map((_, ordinal) => clientUrlOf(this.world, ordinal, this.#scheme));
  }

  /** From now on, for clients that ask for the endpoints at each connection. */
  clientsUse(scheme: Scheme): void {
    this.#scheme = scheme;
  }

  /** With root's certificate, if there are users. */
  get tls(): TlsFiles | undefined {
    return rootTlsOf(this.world);
  }

  /** Returns a client for the ordinals in the spec. */
  client(): EtcdClient {
    return this.#clientWith(this.tls);
  }

  /** Like `client`, but as the user of the writer. */
  clientOfUser(): EtcdClient {
    return this.#clientWith(this.world.tls);
  }

  #clientWith(tls: TlsFiles | undefined): EtcdClient {
    const { size, version } = this.spec;
    return new EtcdClient(etcdOf(minorOf(version) as Minor), this.endpoints.slice(0, size), tls);
  }

  get spec(): ClusterSpec {
    return this.#object.spec;
  }

  get #object(): ClusterObject {
    const cluster = clusterOf(this.store);
    if (!cluster) throw new Error('there is no EtcdCluster');
    return cluster;
  }

  restoreNamed(name = 'restore'): RestoreObject | undefined {
    return this.store.read<RestoreObject>(`restores/${name}`);
  }

  /** Polls. The error describes the state of everything. */
  async until(what: (world: this) => boolean | Promise<boolean>, why: string, seconds = patience): Promise<void> {
    const deadline = Date.now() + seconds * 1_000;
    while (Date.now() < deadline) {
      if (await what(this)) return;
      await sleep(100);
    }
    throw new Error(`not in ${seconds} s: ${why}\n${await this.describe()}`);
  }

  /** Waits until the cluster is ready at the desired size, and no operation is in progress. */
  settled(seconds?: number): Promise<void> {
    return this.until(() => this.#isSettled(), 'the cluster is ready and nothing is in flight', seconds);
  }

  #isSettled(): boolean {
    const { generation, spec } = this.#object;
    const { observedGeneration, voters } = this.status();
    const idle = this.condition('Progressing')?.status === 'False' && this.record()?.op === undefined;
    const replicas = statefulSetOf(this.store)?.replicas;
    const holds = (type: ConditionType) => this.condition(type)?.status === 'True';
    const ready = holds('Available') && holds('Ready') && voters === spec.size && replicas === spec.size;
    return observedGeneration === generation && ready && idle;
  }

  status(): Partial<ClusterStatus> {
    return clusterOf(this.store)?.status ?? {};
  }

  record(): RecordDoc | undefined {
    return this.recordFile.now()?.doc;
  }

  condition(type: ConditionType): ReportedCondition | undefined {
    return this.status().conditions?.find((condition) => condition.type === type);
  }

  async agent(ordinal: number): Promise<AgentStatus> {
    const ca = this.tls && (await readFile(this.tls.ca));
    const url = agentUrlOf(this.world, ordinal, '/status', schemeOf(podOf(this.store, ordinal)?.template.tls));
    return JSON.parse((await get(url, ca, 2_000)).body);
  }

  /** Everything that a person would look at first. */
  async describe(): Promise<string> {
    const agents = podsOf(this.store).map(({ ordinal }) => this.agent(ordinal).catch(String));
    const lines = [`status ${JSON.stringify(this.status(), null, 1)}`, `record ${JSON.stringify(this.record())}`];
    for (const pod of podsOf(this.store)) lines.push(`pod ${JSON.stringify(pod)}`);
    for (const agent of await Promise.all(agents)) lines.push(`agent ${JSON.stringify(agent)}`);
    for (const file of readdirSync(join(this.dir, 'logs')).sort()) lines.push(`--- ${file}`, this.#tail(file));
    return lines.join('\n');
  }

  #tail(log: string): string {
    const lines = readFileSync(join(this.dir, 'logs', log), 'utf8')
      .trimEnd()
      .split('\n');
    return lines
      .slice(-12)
      .map((line) => line.slice(0, 400))
      .join('\n');
  }
}
