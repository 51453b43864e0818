// `npm run bench -- reconciler`: the resources that one reconciler needs for many idle clusters.
// docs/contributing/benchmarks.md explains it.
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { defaultSettings } from '../agent/src/controllers/port/settings.ts';
import { ApiClient } from '../agent/src/kube/api-client.ts';
import { createCertificates } from '../agent/test/harness/certificates.ts';
import { checkGoals } from './goals.mts';
import { type AgentProcess, canBeAsInPod, hasMemoryLimit, startAgent } from './reconciler/agent-process.mts';
import { ApiProxy } from './reconciler/api-proxy.mts';
import { findApiServer } from './reconciler/api-server.mts';
import { applyCrds, Clusters } from './reconciler/clusters.mts';
import type { Asked } from './reconciler/member.mts';
import { moveToOwnNetwork } from './reconciler/own-network.mts';
import { PlayedMembers } from './reconciler/played-members.mts';
import { median, spread } from './table.mts';

const { values } = parseArgs({
  options: {
    sizes: { type: 'string' },
    rounds: { type: 'string' },
    smoke: { type: 'boolean', default: false },
  },
});
const { smoke } = values;
const sizes = (values.sizes ?? (smoke ? '1,20' : '1,100,1000')).split(',').map(Number);
const rounds = Number(values.rounds ?? (smoke ? 1 : 3));
/** Settings of the reconciler: its defaults, except in a run that only shows that everything works. */
const settings: Readonly<Record<string, number>> = smoke ? { steady: 2_000, stable: 1_000 } : {};
/** Seconds for which it is observed at rest, and in which nothing may happen before. */
const [watched, quiet] = smoke ? [8, 3] : [60, 20];
const changes = smoke ? 1 : 3;

/** Resources that one reconciler used for this number of clusters. */
interface Rest {
  readonly clusters: number;
  /** Peak in MiB at rest, sampled every second. */
  readonly resident: number;
  readonly own: number;
  /** MiB, since it began. */
  readonly peak: number;
  /** Milliseconds a second. */
  readonly cpu: number;
  /** A minute, by verb and resource. */
  readonly requests: ReadonlyMap<string, number>;
  readonly writes: readonly string[];
  /** A minute. */
  readonly asked: Asked;
  /** Seconds from its start until it reported that all are as desired. */
  readonly started: number;
  /** Milliseconds, of each kind of change. */
  readonly reactions: ReadonlyMap<string, readonly number[]>;
}

moveToOwnNetwork();
const directory = await mkdtemp(join(tmpdir(), 'cdk8s-etcd-reconciler-'));
const results: Rest[] = [];
const [paused, deleted] = ['spec.paused', 'pod deleted'] as const;
try {
  const certificates = await createCertificates(join(directory, 'certificates'));
  await using server = await findApiServer(join(directory, 'api-server'), certificates);
  await using proxy = await ApiProxy.listen(server.access, certificates.server);
  await using members = new PlayedMembers();
  const client = new ApiClient(server.access, 60_000);
  console.log(server.what);
  if (!canBeAsInPod())
    console.log('no mount namespace: KUBECONFIG is read, which takes memory that a pod does not need');
  if (!(await hasMemoryLimit()))
    console.log('no control group: V8 takes more memory than below the limit of the manifests');
  await applyCrds(client);

  for (let round = 1; round <= rounds; round++) {
    for (const count of sizes) {
      const namespace = `bench-${Date.now().toString(36)}`;
      const clusters = new Clusters(client, namespace, count, server.controllers);
      await members.know(await clusters.create());
      try {
        const rest = await measure(clusters);
        results.push(rest);
        console.log(`round ${round}: ${told(rest)}`);
      } finally {
        await clusters.delete();
      }
    }
  }
  client.close();

  async function measure(clusters: Clusters): Promise<Rest> {
    const count = clusters.names.length;
    const begun = performance.now();
    proxy.forget();
    await using agent = await startAgent({
      ...{ directory: join(directory, clusters.namespace), namespace: clusters.namespace, settings },
      ...{ apiPort: proxy.port, ca: certificates.ca, dns: members.dns },
    });
    const allReady = async () => {
      await sleep(smoke ? 200 : 2_000);
      return (await clusters.ready()) === count;
    };
    await agent.until(allReady, smoke ? 120 : 900);
    const started = (performance.now() - begun) / 1_000;
    while (performance.now() - (proxy.writes.at(-1)?.at ?? 0) < quiet * 1_000) await sleep(200);
    const rest = await atRest(agent);
    return {
      ...{ clusters: count, started },
      ...rest,
      reactions: await reactions(clusters),
      peak: agent.memory().peak,
    };
  }

  async function atRest(agent: AgentProcess) {
    proxy.forget();
    await members.asked();
    const [cpu, begun] = [agent.cpu(), performance.now()];
    let [resident, own] = [0, 0];
    while (performance.now() - begun < watched * 1_000) {
      await sleep(1_000);
      const memory = agent.memory();
      [resident, own] = [Math.max(resident, memory.resident), Math.max(own, memory.own)];
    }
    const seconds = (performance.now() - begun) / 1_000;
    const perMinute = (entries: Iterable<[string, number]>) =>
      new Map([...entries].map(([what, times]) => [what, (times * 60) / seconds]));
    const asked = Object.fromEntries(perMinute(Object.entries(await members.asked())));
    return {
      ...{ resident, own, asked, cpu: ((agent.cpu() - cpu) / seconds) * 1_000, requests: perMinute(proxy.counts) },
      writes: proxy.writes.map(({ what }) => what),
    };
  }

  /** From a change to the first write that answers it. */
  async function reactions(clusters: Clusters): Promise<ReadonlyMap<string, readonly number[]>> {
    const took = new Map<string, number[]>();
    const change = async (what: string, name: string, make: () => Promise<void>) => {
      const write = proxy.nextWrite(name);
      const begun = performance.now();
      await make();
      const { at } = await write;
      took.set(what, [...(took.get(what) ?? []), at - begun]);
    };
    const calm = async () => {
      while (performance.now() - (proxy.writes.at(-1)?.at ?? 0) < 2_000) await sleep(100);
    };
    for (let index = 0; index < changes; index++) {
      const name = clusters.names[Math.floor((index * clusters.names.length) / changes)]!;
      while (!(await clusters.isReady(name))) await sleep(200);
      await calm();
      await change(paused, name, () => clusters.setPaused(name, true));
      await calm();
      await change(paused, name, () => clusters.setPaused(name, false));
      await calm();
      await change(deleted, name, () => clusters.deletePod(name, 1));
      await members.know([await clusters.makePod(name, 1)]);
      await calm();
    }
    return took;
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}

const isOfLease = (what: string): boolean => what.endsWith(' leases');
const total = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((all, each) => all + each, 0);
/** Watches, which the API server ends now and then, are the same for any number. */
const isOfClusters = (what: string): boolean => !isOfLease(what) && !what.startsWith('watch ');
const matching = (counts: ReadonlyMap<string, number>, which: (what: string) => boolean): number =>
  total(new Map([...counts].filter(([what]) => which(what))));
const ofClusters = ({ requests }: Rest): number => matching(requests, isOfClusters);
const ofLease = ({ requests }: Rest): number => matching(requests, isOfLease);
const isRequest = (what: string): boolean => what !== 'DNS' && !what.startsWith('connections');
const ofMembers = ({ asked }: Rest): number => matching(new Map(Object.entries(asked)), isRequest);

function told(rest: Rest): string {
  const { clusters, resident, own, peak, cpu, writes, requests, asked, started, reactions } = rest;
  const lines = [
    `${clusters} clusters, load ${loadavg()[0]!.toFixed(1)}: all as desired after ${started.toFixed(1)} s`,
    `at rest ${resident.toFixed(0)} MiB (own ${own.toFixed(0)}, peak ${peak.toFixed(0)}), ${cpu.toFixed(1)} ms of CPU a second`,
    `writes: ${listed(Map.groupBy(writes, (what) => what.split(' ', 2).join(' ')))}`,
    `to the API server, a minute: ${listed(requests)}`,
    `to members, a minute: ${listed(new Map(Object.entries(asked)))}`,
    `reaction, ms: ${[...reactions].map(([what, took]) => `${what} ${spread(took, 0)}`).join('; ')}`,
  ];
  return lines.join('\n  ');
}

function listed(counts: ReadonlyMap<string, number | readonly string[]>): string {
  const all = [...counts].map(([what, count]) => [what, typeof count === 'number' ? count : count.length] as const);
  const inOrder = all.toSorted(([, a], [, b]) => b - a).map(([what, times]) => `${what} ${times.toFixed(1)}`);
  return inOrder.join(', ') || 'none';
}

const of = (count: number, value: (rest: Rest) => number): number[] =>
  results.filter(({ clusters }) => clusters === count).map(value);

console.log(
  `\nat rest, median (least–most) of ${rounds}; requests a minute, reactions median (least–most) of all, ms\n`,
);
console.log(
  '| clusters | RSS MiB | peak MiB | CPU ms/s | API requests | of which writes | Lease | to members | paused | pod deleted |',
);
console.log(`|${' --- |'.repeat(10)}`);
for (const count of sizes) {
  const reacted = (what: string) => {
    const took = results.filter(({ clusters }) => clusters === count).flatMap(({ reactions }) => reactions.get(what)!);
    return spread(took, 0);
  };
  const cells = [
    ...[
      spread(
        of(count, ({ resident }) => resident),
        0,
      ),
      spread(
        of(count, ({ peak }) => peak),
        0,
      ),
    ],
    ...[
      spread(
        of(count, ({ cpu }) => cpu),
        1,
      ),
      spread(of(count, ofClusters), 0),
    ],
    spread(
      of(count, ({ writes }) => writes.length),
      0,
    ),
    spread(of(count, ofLease), 0),
    ...[spread(of(count, ofMembers), 0), reacted(paused), reacted(deleted)],
  ];
  console.log(`| ${count} | ${cells.join(' | ')} |`);
}
console.log();

const many = sizes.at(-1) ?? 1;
const few = sizes.at(-2);
/** Per minute: how often it observes each cluster. */
const looks = 60_000 / (settings.steady ?? defaultSettings.steady);
const growth = (value: (rest: Rest) => number): number => {
  const perCluster = (count: number) => median(of(count, value)) / count;
  return perCluster(many) / perCluster(few ?? many);
};
checkGoals([
  ...sizes.map((count) => ({
    what: `writes at rest of ${count}, but for the Lease`,
    value: Math.max(...of(count, ({ writes }) => writes.length)),
    limit: 0,
  })),
  ...sizes.map((count) => ({
    what: `API requests per look at one of ${count}`,
    value: median(of(count, ofClusters)) / count / looks,
    limit: 1.25,
  })),
  ...(smoke
    ? []
    : [
        { what: `MiB resident at rest with ${many}`, value: median(of(many, ({ resident }) => resident)), limit: 150 },
        { what: `API requests per cluster, ${many} ÷ ${few}`, value: growth(ofClusters), limit: 1.1 },
        { what: `requests to members per cluster, ${many} ÷ ${few}`, value: growth(ofMembers), limit: 1.1 },
        { what: `CPU per cluster, ${many} ÷ ${few}`, value: growth(({ cpu }) => cpu), limit: 1.2 },
      ]),
]);
