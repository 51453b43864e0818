import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LocalCluster, type LocalClusterOptions } from '../../local/cluster.ts';
import { clusterOf } from '../../local/objects.ts';
import { type Evidence, problems } from '../checks/checks.ts';
import type { Loss } from '../checks/data-checks.ts';
import { acknowledged, elections, longestGap, type Write } from '../checks/history.ts';
import { openVoters } from '../checks/member-view.ts';
import { missedWrites } from '../checks/missed-writes.ts';
import { VolumeAudit } from '../checks/volume-audit.ts';
import type { Target } from './kv-client.ts';
import { smoke } from './smoke.ts';
import { Watcher } from './watcher.ts';
import { Writer, type WriterOptions } from './writer.ts';

export interface ScenarioOptions extends LocalClusterOptions {
  readonly writer?: Partial<WriterOptions>;
  /**
   * The first write waits until the cluster is complete, like a client of the Service. Otherwise it goes to any member
   * that accepts it.
   */
  readonly patientWriter?: boolean;
  /** Roots of volumes besides `<dir>/volumes`, for `volumeRoot`. */
  readonly volumeRoots?: readonly string[];
}

/** A forming cluster, with a writer and a watcher that run until the end. */
export class Play {
  readonly cluster: LocalCluster;
  readonly writer: Writer;
  readonly watcher: Watcher;
  readonly losses: Loss[] = [];
  readonly notes: string[] = [];
  /** Time when the cluster was first complete. */
  formedAt: number | undefined;
  readonly #whole: PromiseWithResolvers<void>;

  constructor(cluster: LocalCluster, writer: Writer, watcher: Watcher, whole: PromiseWithResolvers<void>) {
    this.#whole = whole;
    this.cluster = cluster;
    this.writer = writer;
    this.watcher = watcher;
  }

  /** Resolves when the cluster is complete for the first time. */
  async formed(): Promise<void> {
    await this.converges('formed', async () => undefined);
    if (this.cluster.world.users) await this.cluster.enableAuth(this.writer.prefix);
    this.formedAt = this.writer.now;
    this.#whole.resolve();
    await this.writer.more(20);
  }

  /** Does the work and waits until the cluster is complete again. */
  async converges(what: string, work: () => Promise<unknown>): Promise<void> {
    const started = performance.now();
    await work();
    await this.cluster.settled(patience);
    // The status may be older than the work.
    await this.cluster.until(() => this.#allServe(), 'as many voters as asked for answer, and agree', patience);
    await this.cluster.settled(patience);
    this.notes.push(`${what} ${seconds(performance.now() - started)}`);
  }

  async #allServe(): Promise<boolean> {
    const voters = await openVoters(this.cluster);
    for (const voter of voters) voter[Symbol.dispose]();
    const leaders = new Set(voters.map(({ status }) => status.leader));
    return voters.length === this.cluster.spec.size && leaders.size === 1 && !leaders.has('0');
  }

  /** Notes a restore: writes that this cluster acknowledged after the revision are discarded. */
  gaveUp(loss: Loss): void {
    this.losses.push(loss);
  }

  /** Returns the writes that began after this time and were not acknowledged. */
  missed(since: number): Write[] {
    return this.writer.history.writes.filter(({ start, outcome }) => start >= since && outcome !== 'ok');
  }

  /** Like `missed`, but only writes that failed though the client had a second to retry. */
  untaken(since: number): readonly string[] {
    const { failed, starved } = missedWrites(this.writer.history, since);
    if (starved > 0) this.notes.push(`${starved} writes not counted, as the machine stood still`);
    return failed;
  }

  /** Returns the longest time without a write from then until now. */
  gap(since: number): number {
    return longestGap(this.writer.history, since, this.writer.now);
  }
}

/** Seconds. On a busy machine with many kills everything is slow. */
const patience = 240;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Registers a test that starts the cluster, runs the scenario, applies all checks, and prints a summary line. */
export function scenario(name: string, options: ScenarioOptions, play: (world: Play) => Promise<void>): void {
  test(name, () => run(name, options, play));
}

/** A scenario that a smoke run skips. */
export const fullScenario: typeof scenario = smoke ? () => undefined : scenario;

async function run(name: string, options: ScenarioOptions, play: (world: Play) => Promise<void>): Promise<void> {
  const { writer: writing, patientWriter, volumeRoots = [], ...rest } = options;
  const whole = Promise.withResolvers<void>();
  const started = performance.now();
  await using cluster = await LocalCluster.start({ ...keptDirectory(name), ...rest });
  using audit = new VolumeAudit(() => [join(cluster.dir, 'volumes'), ...volumeRoots].flatMap(directoriesIn));
  const target = clientsOf(cluster);
  await using writer = Writer.start({ target, ...writing, ...(patientWriter && { after: whole.promise }) });
  await using watcher = Watcher.start({ target, prefix: writer.prefix });
  const world = new Play(cluster, writer, watcher, whole);
  await play(world);
  const end = writer.now;
  const history = await writer.stop();
  const evidence: Evidence = { cluster, history, prefix: writer.prefix, watcher, audit, losses: world.losses };
  const wrong = await problems(evidence);
  report(name, world, end, performance.now() - started);
  expect(wrong).toEqual([]);
}

/** Clients know the members of the spec. */
const clientsOf = (cluster: LocalCluster): Target => ({
  get endpoints() {
    const size = clusterOf(cluster.store)?.spec.size;
    return cluster.endpoints.slice(0, size);
  },
  tls: cluster.world.tls,
});

/** With MEMBERS_DIR the files of a scenario are kept, for the analysis of a failure. */
function keptDirectory(name: string): { dir?: string } {
  const kept = process.env.MEMBERS_DIR;
  if (!kept) return {};
  const dir = join(kept, name.replace(/\W+/g, '-').slice(0, 60));
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  return { dir };
}

function directoriesIn(root: string): string[] {
  try {
    return readdirSync(root).map((one) => join(root, one));
  } catch {
    return [];
  }
}

function report(name: string, { writer, notes, formedAt }: Play, end: number, took: number): void {
  const { history } = writer;
  const facts = [
    ...notes,
    `longest write gap ${seconds(longestGap(history, formedAt, end))}`,
    `${elections(history)} elections`,
    `${acknowledged(history.writes).length} of ${history.writes.length} writes acknowledged`,
    `took ${seconds(took)}`,
  ];
  process.stdout.write(`${name}: ${facts.join(', ')}\n`);
}
