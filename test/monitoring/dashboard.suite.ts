import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { backUp, playWithNightly } from '../e2e/support/orders-backups';
import { type Play, tell } from '../e2e/watch/play';
import { root } from '../guides';
import { leaderOf } from '../operations/support/member-versions';
import { type Drawn, dashboardSvg, type Line, type Mark } from './support/draw';
import { addMonitoring } from './support/monitored';
import { Monitoring } from './support/monitoring';
import { legendOf, type Panel, rowsOf } from './support/panels';

const all = [0, 1, 2];
const smoke = Boolean(process.env.E2E_SMOKE);
/** Nothing in them is good. */
const mayBeEmpty = ['Failed requests per second', ...(smoke ? ['Operation in flight'] : [])];

let play: Play;
let monitoring: Monitoring;
const marks: Mark[] = [];
let begun: number;
let drawn: { readonly title: string; readonly panels: readonly Drawn[] }[];

beforeAll(async () => {
  ({ play } = await playWithNightly('dashboard', { shape: addMonitoring }));
  monitoring = await Monitoring.begin(play.namespace);
});
afterAll(async () => {
  await Promise.all([monitoring?.end(), play?.end()]);
});

test('the operator makes targets of the ServiceMonitors, and each answers: every etcd, agent and reconciler', async () => {
  const pool = (monitor: string, endpoint: number) => `serviceMonitor/${play.namespace.name}/${monitor}/${endpoint}`;
  const wanted = [
    ...all.map(() => pool('orders', 0)),
    ...all.map(() => pool('orders', 1)),
    pool('orders-reconciler', 0),
  ];
  await play.namespace
    .until('the targets', 180, async () => {
      const { up, down } = await monitoring.targets();
      return up.length >= wanted.length && down.length === 0 ? up : undefined;
    })
    .catch(() => {});
  expect(await monitoring.targets()).toEqual({ up: [...wanted].sort(), down: [] });
  expect(new Set(await monitoring.rules()).size).toBe(24);
});

test('a cluster lives through a leader change, a backup and a lost volume', async () => {
  const { namespace, cluster } = play;
  await backUp(namespace, 'orders', 'earlier');
  begun = Date.now() / 1_000;
  await sleep(30_000);
  await happens("the leader's pod is deleted", async () => {
    const leader = await leaderOf(cluster);
    await play.converges('a leader deleted', 3, () => cluster.deletePods(Number(leader.at(-1))));
  });
  await happens('a backup is taken', onDemand);
  if (!smoke) {
    await happens('the volume of a member is lost', async () => {
      const before = await cluster.memberId(2);
      await play.converges('a volume lost', 3, async () => {
        await cluster.loseVolumes(2);
        await cluster.replaced(2, before);
      });
    });
  }
  drawn = await everyPanel();
});

async function happens(what: string, work: () => Promise<unknown>): Promise<void> {
  marks.push({ at: Date.now() / 1_000 - begun, what });
  await work();
  await sleep(20_000);
}

async function onDemand(): Promise<void> {
  const { namespace } = play;
  const spec = { clusterName: 'orders', schedule: 'nightly' };
  await namespace.apply([
    { apiVersion: 'cdk8s-etcd.dev/v1alpha1', kind: 'EtcdBackup', metadata: { name: 'on-demand' }, spec },
  ]);
  await namespace.until('the backup', 300, async () => {
    const { status } = await namespace.get('etcdbackup', 'on-demand');
    return status?.phase === 'Completed' ? status : undefined;
  });
}

/** What each panel showed since the begin. */
async function everyPanel() {
  const rows = rowsOf(play.namespace.name, 'orders');
  return Promise.all(
    rows.map(async ({ title, panels }) => ({
      title,
      panels: await Promise.all(panels.map(async (panel) => ({ panel, lines: await linesOf(panel) }))),
    })),
  );
}

async function linesOf({ queries }: Panel): Promise<Line[]> {
  const now = Date.now() / 1_000;
  const step = Math.max(2, Math.ceil((now - begun) / 120));
  const found = await Promise.all(
    queries.map(async ({ expr, legend }) => {
      const series = await monitoring.range(expr, begun, now, step);
      return series.map(({ labels, values }) => ({
        name: legendOf(legend, labels),
        points: values.map(([at, value]) => [at - begun, value] as const),
      }));
    }),
  );
  return joined(found.flat());
}

/** A pod that was made again has another address, and so another series of the same name. */
function joined(lines: readonly Line[]): Line[] {
  const names = [...new Set(lines.map(({ name }) => name))].sort();
  return names.map((name) => {
    const points = new Map(lines.filter((line) => line.name === name).flatMap((line) => line.points));
    return { name, points: [...points].sort(([a], [b]) => a - b) };
  });
}

test('every panel has data', () => {
  const empty = drawn.flatMap(({ panels }) =>
    panels.filter(({ panel, lines }) => {
      const numbers = lines.flatMap(({ points }) => points.filter(([, value]) => Number.isFinite(value)));
      return numbers.length === 0 && !mayBeEmpty.includes(panel.title);
    }),
  );
  expect(empty.map(({ panel }) => panel.title)).toEqual([]);
});

const linesIn = (title: string): readonly Line[] =>
  drawn.flatMap(({ panels }) => panels).find(({ panel }) => panel.title === title)!.lines;
const valuesIn = (title: string): number[] => linesIn(title).flatMap(({ points }) => points.map(([, value]) => value));
const lastIn = (title: string): number[] => linesIn(title).map(({ points }) => points.at(-1)![1]);
/** Values of one line that are smaller than the one before. */
const falls = (title: string): number =>
  linesIn(title)[0]!.points.filter(([, value], index, points) => index > 0 && value < points[index - 1]![1]).length;

test('the leader change shows: another pod leads, each member counts a change, and one is away for a while', () => {
  const leaders = linesIn('Leader').filter(({ points }) => points.some(([, value]) => value === 1));
  expect(leaders.length).toBeGreaterThan(1);
  expect(Math.max(...valuesIn('Leader changes in 15 minutes'))).toBeGreaterThanOrEqual(1);
  expect(Math.min(...valuesIn('Members with a leader'))).toBeLessThan(3);
  expect(lastIn('Members with a leader')).toEqual([3]);
  expect(Math.min(...valuesIn('Ready voters'))).toBeLessThan(3);
  expect(lastIn('Ready voters')).toEqual([3]);
});

test('the backup shows: its age falls, and so does the number of revisions that it lacks', () => {
  expect(falls('Age of the newest verified backup')).toBeGreaterThan(0);
  expect(falls('Revisions since the newest verified backup')).toBeGreaterThan(0);
  expect(new Set(valuesIn('Failed schedules'))).toEqual(new Set([0]));
  expect(Math.min(...valuesIn('Size of the newest snapshot'))).toBeGreaterThan(0);
});

test('the lost volume shows: as a condition with its reason, as an operation, and as actions, and then no longer', () => {
  if (smoke) return;
  const since = marks.at(-1)!.at;
  const conditions = linesIn('Conditions that are not as they should be');
  const bad = conditions.filter(({ points }) => points.some(([at]) => at > since)).map(({ name }) => name);
  tell(`dashboard: while the volume was lost: ${bad.join(', ')}`);
  expect(bad).toContainEqual(expect.stringMatching(/^Degraded True: (VolumeLost|MemberDown|Starting)$/));
  const operations = linesIn('Operation in flight').map(({ name }) => name);
  tell(`dashboard: operations: ${operations.join(', ')}`);
  // What takes less than a scrape does not show.
  expect(operations).toContain('Remove');
  expect(linesIn('Actions of the reconciler').length).toBeGreaterThan(0);
});

test('there is a quorum, and clients were served', () => {
  expect(lastIn('Quorum')).toEqual([1]);
  expect(linesIn('Requests per second').map(({ name }) => name)).toEqual(expect.arrayContaining(['Put']));
  for (const title of ['Requests per second', 'Failed requests per second'])
    expect(linesIn(title).filter(({ points }) => points.every(([, value]) => value === 0))).toEqual([]);
  expect(Math.max(...valuesIn('Applied raft entries per second'))).toBeGreaterThan(1);
  expect(Math.min(...valuesIn('Free space of the volumes'))).toBeGreaterThan(0);
  expect(Math.max(...valuesIn('Free space of the volumes'))).toBeLessThan(1);
  expect(Math.min(...lastIn('First certificate expires in'))).toBeGreaterThan(14 * 86_400);
});

test('its pictures', () => {
  const seconds = Date.now() / 1_000 - begun;
  const svg = dashboardSvg(drawn, seconds, marks);
  expect(svg).toContain('<path');
  if (process.env.PICTURES) writeFileSync(join(root, 'docs/operations/dashboard.svg'), svg);
});
