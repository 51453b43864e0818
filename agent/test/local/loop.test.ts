import { setTimeout as sleep } from 'node:timers/promises';
import { type ClusterRun, runCluster } from '../../src/controllers/cluster/loop.ts';
import { defaultSettings, type ReconcilerSettings } from '../../src/controllers/port/settings.ts';
import { type Key, Queue, type Work } from '../../src/lib/queue.ts';
import type { ClusterStatus } from '../../src/protocol/cluster-status.ts';
import { nothingYet } from '../model/world/begin.ts';
import { MemoryPort } from '../model/world/port.ts';
import { steps } from '../model/world/steps.ts';

const settings: ReconcilerSettings = {
  ...defaultSettings,
  stable: 0,
  evidence: 0,
  promoteGap: 0,
  lease: 0,
  hashEvery: 3_600_000,
};

class Loop {
  readonly port = new MemoryPort(nothingYet({ size: 3, version: '3.6.16' }));
  readonly reported: ClusterStatus[] = [];
  readonly points: string[] = [];
  readonly said: string[] = [];
  passes = 0;

  constructor() {
    this.port.clusters.reportStatus = async (status) => {
      this.reported.push(status);
    };
    const { cluster } = this.port.clusters;
    this.port.clusters.cluster = async () => {
      const seen = await cluster();
      return seen && { ...seen, generation: 4, status: { ...seen.status, ...this.reported.at(-1) } };
    };
  }

  /** Runs until the world meets the condition, and for some further passes. */
  async run(done: () => boolean, more = 0, change: Partial<ClusterRun> = {}): Promise<void> {
    let work: Work | undefined;
    this.begin({
      ...change,
      follow: (given) => {
        work = given;
        return {} as Key;
      },
    });
    for (let left = more; this.passes <= 300 && !(done() && left-- <= 0); this.passes++) {
      await work!.pass({ failures: 0, signal: new AbortController().signal });
      this.#advance();
    }
  }

  begin(change: Pick<ClusterRun, 'follow'> & Partial<ClusterRun>): void {
    const note = (first: unknown, text?: string) => void this.said.push(text ?? String(first));
    runCluster({
      port: this.port,
      settings,
      holder: 'me',
      log: { debug: note, info: note, warn: note, error: note },
      at: (point) => void this.points.push(point),
      ...change,
    });
  }

  #advance(): void {
    for (let n = 0; n < 50; n++) {
      const [step] = steps(this.port.world);
      if (!step) return;
      this.port.world = step.next;
    }
  }

  get phase(): string | undefined {
    return this.reported.at(-1)?.phase;
  }

  get voters(): number {
    return this.port.world.clusters[0]?.members.filter(({ learner }) => !learner).length ?? 0;
  }
}

test('forms a cluster and reports its progress', async () => {
  const loop = new Loop();
  await loop.run(() => loop.phase === 'Ready');
  expect(loop.reported.at(-1)).toMatchObject({
    observedGeneration: 4,
    epoch: 1,
    size: 3,
    voters: 3,
    readyVoters: 3,
    leader: 'c-0',
    version: '3.6.16',
    members: [{ role: 'Leader' }, { role: 'Follower', healthy: true }, { pod: 'c-2' }],
  });
  const phases = loop.reported.map(({ phase }) => phase);
  // Only a cluster that has formed grows.
  expect([...new Set(phases)]).toEqual(['Bootstrapping', 'Ready']);
});

test('an unchanged status is not written', async () => {
  const loop = new Loop();
  await loop.run(() => loop.phase === 'Ready', 10);
  expect(loop.reported.filter(({ phase }) => phase === 'Ready')).toHaveLength(1);
  const reported = loop.reported.map((status) => JSON.stringify(status));
  expect(reported.filter((status, i) => status === reported[i - 1])).toEqual([]);
});

test('names every effect before and after it', async () => {
  const loop = new Loop();
  await loop.run(() => loop.voters === 3);
  const [first, second] = loop.points;
  expect(second).toBe(first!.replace('before', 'after'));
  expect(loop.points.filter((point) => point.startsWith('before')).length).toBeGreaterThan(10);
});

test('a condition keeps its time for as long as its status', async () => {
  const loop = new Loop();
  await loop.run(() => loop.phase === 'Ready');
  const times = (type: string) =>
    new Map(
      loop.reported.flatMap(({ conditions }) =>
        conditions.filter((each) => each.type === type).map((each) => [each.status, each.lastTransitionTime] as const),
      ),
    );
  const all = loop.reported.flatMap(({ conditions }) => conditions.filter(({ type }) => type === 'QuorumLost'));
  expect([...new Set(all.map(({ status }) => status))]).toEqual(['Unknown', 'False']);
  expect(new Set(all.map(({ lastTransitionTime }) => lastTransitionTime)).size).toBe(2);
  expect(times('Ready').size).toBe(2);
});

test('an effect that fails is not repeated at once, and the loop goes on', async () => {
  const loop = new Loop();
  loop.port.records.write = () => Promise.reject(new Error('refused'));
  const queue = new Queue();
  loop.begin({ follow: queue.follow, settings: { ...settings, backoffMin: 20, backoffMax: 60 } });
  await sleep(400);
  await queue.stop(1_000);
  expect(loop.said).toContain('InitRecord: refused');
  expect(loop.points.length).toBeGreaterThan(2);
  expect(loop.points.length).toBeLessThan(14);
});

test('no status is written over that of another reconciler, whatever a pass throws on', async () => {
  const loop = new Loop();
  await loop.run(() => loop.phase === 'Ready');
  const other = new Loop();
  other.port.world = loop.port.world;
  const { cluster } = other.port.clusters;
  other.port.clusters.cluster = async () => {
    const seen = await cluster();
    return seen && { ...seen, followedBy: 'theirs' };
  };
  const read = other.port.records.read.bind(other.port.records);
  other.port.records.read = async () => {
    const { doc, rv } = (await read())!;
    return { doc: { ...doc, versions: undefined as never }, rv };
  };
  await other.run(() => other.passes > 2);
  expect(other.said.join()).toContain('PassFailed');
  expect(other.reported).toEqual([]);
});

test('a status that cannot be written stops nothing', async () => {
  const loop = new Loop();
  loop.port.clusters.reportStatus = () => Promise.reject(new Error('no API'));
  await loop.run(() => loop.voters === 3);
  expect(loop.voters).toBe(3);
  expect(loop.said).toContain('the status cannot be written: no API');
});

test('a status that cannot be worked out stops nothing, and its place is taken by one that reports that', async () => {
  const loop = new Loop();
  let fails = true;
  const onObserved = () => {
    if (fails) throw new TypeError('no such field');
  };
  await loop.run(() => loop.voters === 3, 0, { onObserved });
  expect(loop.voters).toBe(3);
  expect(loop.reported.at(-1)).toMatchObject({ phase: 'Stalled', reason: 'PassFailed' });
  expect(loop.reported.at(-1)?.message).toContain('no such field');
  expect(loop.reported.at(-1)?.message).not.toContain('nothing is changed');
  fails = false;
  const again = new Loop();
  again.port.world = loop.port.world;
  await again.run(() => again.phase === 'Ready', 0, { onObserved });
  expect(again.phase).toBe('Ready');
  fails = true;
  const later = new Loop();
  later.port.world = loop.port.world;
  later.reported.push(again.reported.at(-1)!);
  await later.run(() => later.reported.length > 1, 0, { onObserved });
  expect(later.reported.at(-1)).toMatchObject({ reason: 'PassFailed', members: again.reported.at(-1)?.members });
  expect(later.reported.at(-1)?.members).toHaveLength(3);
});

test('the status names the time of the wall clock, also after the machine was suspended', async () => {
  const tomorrow = Date.now() + 86_400_000;
  const { now } = Date;
  Date.now = () => tomorrow;
  const loop = new Loop();
  await loop
    .run(() => loop.reported.length > 0)
    .finally(() => {
      Date.now = now;
    });
  expect(Math.abs(Date.parse(loop.reported.at(-1)!.observedAt!) - tomorrow)).toBeLessThan(1000);
});
