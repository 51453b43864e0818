import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { etcdOf, etcdutl } from '../agent/test/harness/etcd-binaries.ts';
import { EtcdClient } from '../agent/test/harness/etcd-client.ts';
import { EtcdMember } from '../agent/test/harness/etcd-member.ts';
import { freePorts } from '../agent/test/harness/free-ports.ts';
import { testEtcdSettings } from '../agent/test/local/new-world.ts';
import { type Lifecycle, quotaBytes } from './lifecycle-steps.mts';

const execute = promisify(execFile);
const three = [0, 1, 2];
const victim = 2;
/** A person's loop around a command that etcd refuses for a while. */
const again = 500;

interface Place {
  readonly name: string;
  readonly dataDir: string;
  readonly clientUrl: string;
  readonly peerUrl: string;
}

/** With etcd, etcdctl and etcdutl alone, by a person who knows every command, waits for nothing and checks nothing. */
export class ByHand implements Lifecycle {
  readonly #root: string;
  readonly #places: readonly Place[];
  readonly #members: (EtcdMember | undefined)[] = [];
  #minor: '3.6' | '3.7' = '3.6';

  private constructor(root: string, places: readonly Place[]) {
    this.#root = root;
    this.#places = places;
  }

  static async begin(): Promise<ByHand> {
    const root = await mkdtemp(join(tmpdir(), 'by-hand-'));
    const ports = await freePorts(2 * three.length);
    const url = (port: number | undefined) => `http://127.0.0.1:${port}`;
    const places = three.map((i) => ({
      ...{ name: `etcd-${i}`, dataDir: join(root, `etcd-${i}`) },
      ...{ clientUrl: url(ports[2 * i]), peerUrl: url(ports[2 * i + 1]) },
    }));
    return new ByHand(root, places);
  }

  client(): EtcdClient {
    return this.#clientOf(three);
  }

  async form(): Promise<void> {
    await this.#start(0, [0], 'new');
    await this.#member(0).healthy();
    await this.#join(1, [0]);
    await this.#join(2, [0, 1]);
  }

  async heal(): Promise<void> {
    const lost = await this.#idOf(victim);
    await this.#member(victim).kill();
    await rm(this.#places[victim]!.dataDir, { recursive: true });
    const others = three.filter((i) => i !== victim);
    await this.#clientOf(others).etcdctl('member', 'remove', lost);
    await this.#join(victim, others);
  }

  async upgrade(): Promise<void> {
    this.#minor = '3.7';
    const leader = await this.#leader();
    for (const i of three.filter((other) => other !== leader)) await this.#restart(i);
    const next = await this.#idOf(three.find((i) => i !== leader)!);
    await this.#clientOf([leader]).etcdctl('move-leader', next);
    await this.#restart(leader);
    while (!(await this.#clusterVersion()).startsWith('3.7')) await sleep(100);
  }

  async takeSnapshot(): Promise<void> {
    await this.#clientOf([0]).etcdctl('snapshot', 'save', join(this.#root, 'snapshot.db'));
  }

  async restore(): Promise<void> {
    await Promise.all(three.map((i) => this.#member(i).stop()));
    const cluster = this.#initialCluster(three);
    await Promise.all(
      this.#places.map(async ({ name, dataDir, peerUrl }) => {
        await rm(dataDir, { recursive: true });
        const token = `--initial-cluster-token=restored-${this.#root}`;
        const self = [`--name=${name}`, `--data-dir=${dataDir}`, `--initial-advertise-peer-urls=${peerUrl}`];
        const bump = ['--bump-revision=1000000000', '--mark-compacted'];
        const snapshot = join(this.#root, 'snapshot.db');
        await execute(etcdutl(), [
          'snapshot',
          'restore',
          snapshot,
          `--initial-cluster=${cluster}`,
          token,
          ...self,
          ...bump,
        ]);
      }),
    );
    for (const i of three) await this.#start(i, three, 'existing');
    await Promise.all(three.map((i) => this.#member(i).healthy()));
  }

  async #join(i: number, others: readonly number[]): Promise<void> {
    const client = this.#clientOf(others);
    const { name, peerUrl } = this.#places[i]!;
    await retried(() => client.etcdctl('member', 'add', name, '--learner', `--peer-urls=${peerUrl}`));
    await this.#start(i, [...others, i], 'existing');
    const id = await this.#idOf(i);
    await retried(() => client.etcdctl('member', 'promote', id));
    await this.#member(i).healthy();
  }

  async #restart(i: number): Promise<void> {
    await this.#member(i).stop();
    await this.#start(i, three, 'existing');
    await this.#member(i).healthy();
  }

  async #start(i: number, cluster: readonly number[], state: 'new' | 'existing'): Promise<void> {
    const place = this.#places[i]!;
    const settings = Object.entries({ ...testEtcdSettings, 'quota-backend-bytes': quotaBytes });
    const member = new EtcdMember({
      ...place,
      binaries: etcdOf(this.#minor),
      advertisedUrl: place.clientUrl,
      log: join(this.#root, `${place.name}.log`),
      args: [
        ...['--initial-cluster', this.#initialCluster(cluster), '--initial-cluster-state', state],
        ...settings.map(([key, value]) => `--${key}=${value}`),
      ],
    });
    this.#members[i] = member;
    await member.spawn();
  }

  #initialCluster(of: readonly number[]): string {
    return of.map((i) => `${this.#places[i]!.name}=${this.#places[i]!.peerUrl}`).join();
  }

  async #idOf(i: number): Promise<string> {
    const known = three.filter((other) => this.#members[other] && other !== i);
    const list = await this.#clientOf(known).etcdctl('member', 'list');
    const line = list.split('\n').find((each) => each.includes(`, ${this.#places[i]!.peerUrl},`));
    if (!line) throw new Error(`no member has ${this.#places[i]!.peerUrl}`);
    return line.slice(0, line.indexOf(','));
  }

  async #leader(): Promise<number> {
    const all: { Status: { leader: number; header: { member_id: number } } }[] = JSON.parse(
      await this.client().etcdctl('endpoint', 'status', '-w', 'json'),
    );
    return all.findIndex(({ Status }) => Status.leader === Status.header.member_id);
  }

  async #clusterVersion(): Promise<string> {
    const answer = await fetch(`${this.#places[0]!.clientUrl}/version`);
    return ((await answer.json()) as { etcdcluster: string }).etcdcluster;
  }

  #clientOf(of: readonly number[]): EtcdClient {
    const endpoints = of.map((i) => this.#places[i]!.clientUrl);
    return new EtcdClient(etcdOf(this.#minor), endpoints, undefined);
  }

  #member(i: number): EtcdMember {
    const member = this.#members[i];
    if (!member) throw new Error(`member ${i} was not started`);
    return member;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.map((member) => member?.kill()));
    await rm(this.#root, { recursive: true, force: true });
  }
}

async function retried(command: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await command();
      return;
    } catch (error) {
      if (!/unhealthy cluster|in sync with leader/.test(String(error))) throw error;
      await sleep(again);
    }
  }
}
