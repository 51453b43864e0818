import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { kubectl } from '../e2e/support/kubectl';
import { Recording } from '../e2e/watch/recording';
import { Monitoring } from '../monitoring/support/monitoring';
import type { Manifest } from '../synth';
import { plan, type Step } from './plan';
import type { FaultRow } from './report/run';
import { Timeline } from './report/timeline';
import { Stage } from './stage';
import { state } from './state';

/** scripts/suites/chaos.mjs runs this suite, and prints the plan before and the table after it. */
const settings = JSON.parse(process.env.CHAOS ?? '{}');
if (settings.seed === undefined) throw new Error('CHAOS is not set; run this suite with npm run suite -- chaos');
const steps = plan(settings.seed, settings).filter(({ number }) => settings.numbers.includes(number));

const rows: FaultRow[] = [];
let stage: Stage;
let monitoring: Monitoring | undefined;
let timeline: Timeline;
let recording: Recording;
let failed: number | undefined;

beforeAll(async () => {
  stage = await Stage.begin(settings);
  recording = await Recording.begin(stage.namespace);
  if (settings.alerts) monitoring = await Monitoring.begin(stage.namespace);
  timeline = new Timeline(stage, monitoring);
});
afterAll(async () => {
  await timeline?.end();
  await recording?.end();
  await monitoring?.end();
  await stage?.play.end();
});

test.each(steps)('$number: $what', async (step) => {
  if (failed !== undefined) throw new Error(`not tried, as ${failed} failed`);
  await sleep(step.pause * 1_000);
  const from = Date.now();
  try {
    const { took, longestGap, elections } = await stage.play.converges(step.what, 3, () => all(step));
    report(step, { from, to: from + took, longestGap, elections });
  } catch (error) {
    failed = step.number;
    report(step, { from, failed: true });
    process.stdout.write(await state(stage));
    throw error;
  }
});

/** Each fault is completed, whatever the other does: it may keep a node down. */
async function all({ faults }: Step): Promise<void> {
  const ends = await Promise.allSettled(
    faults.map(async ({ after, run }) => {
      await sleep(after * 1_000);
      await run(stage);
    }),
  );
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
  if (failures.length > 0) throw failures.length > 1 ? new AggregateError(failures) : failures[0];
}

/** At once, because a run may be stopped early. */
function report({ number, what }: Step, outcome: Omit<FaultRow, 'number' | 'what'>): void {
  rows.push({ number, what, ...outcome });
  writeFileSync(settings.report, JSON.stringify({ seed: settings.seed, faults: rows, samples: timeline.samples }));
}

test('nothing is lost except what restores discarded, each epoch was one cluster, and all voters agree', async () => {
  if (failed !== undefined) throw new Error(`not judged, as ${failed} failed`);
  await stage.play.ends(3);
});

test('the user with a password logs in with the one that its Secret has, and with no former one', async () => {
  await stage.passwords.worksIn(120);
});

test('no key, password or token is in an object other than a Secret, in a log or in a manifest', async () => {
  expect(await recording.leaks({ store: await stage.backups.documents() })).toEqual([]);
});

test('no object remains in deletion', async () => {
  const { namespace } = stage;
  const { stdout } = await kubectl(['api-resources', '--namespaced', '--verbs=list', '-o', 'name']);
  const kinds = stdout.split('\n').filter((kind) => kind && !kind.startsWith('events'));
  await namespace.until('the end of what is deleted', 120, async () => {
    const { items } = await namespace.get(kinds.join());
    const ending = items.filter(({ metadata }: Manifest) => metadata.deletionTimestamp !== undefined);
    return ending.length === 0 ? true : undefined;
  });
});
