import { Chart, Testing } from 'cdk8s';
import { manifestsOf, valid } from '../../test/synth';
import { EtcdBackupSchedule, EtcdCluster } from '..';
import { namesakeProblems, takeName } from './name-registry';

const schedule = (chart: Chart, id: string, name = 'same') => new EtcdBackupSchedule(chart, id, { ...valid, name });
const problemsOf = (chart: Chart) => chart.node.findAll().flatMap(({ node }) => node.validate());

test('a name is taken in the namespace, whichever chart it is in', () => {
  const app = Testing.app();
  const charts = ['a', 'b', 'c'].map((id) => new Chart(app, id, { namespace: id === 'c' ? 'other' : 'shop' }));
  for (const chart of charts) schedule(chart, 'nightly');
  expect(charts.map(problemsOf)).toEqual([
    ["another backup schedule of this namespace is called 'same' too; give each its own name"],
    ["another backup schedule of this namespace is called 'same' too; give each its own name"],
    [],
  ]);
});

test('charts without a namespace may be meant for different ones', () => {
  const app = Testing.app();
  const charts = ['staging', 'production'].map((id) => new Chart(app, id));
  for (const chart of charts) schedule(chart, 'nightly');
  expect(charts.flatMap(problemsOf)).toEqual([]);
});

test('what was removed has no name', () => {
  const chart = new Chart(Testing.app(), 'a');
  const nightly = schedule(chart, 'nightly');
  schedule(chart, 'hourly');
  expect(nightly.node.validate()).toHaveLength(1);
  chart.node.tryRemoveChild('hourly');
  expect(nightly.node.validate()).toEqual([]);
  schedule(chart, 'hourly');
  expect(nightly.node.validate()).toHaveLength(1);
});

test("a schedule and a cluster cannot share a ServiceAccount's name", () => {
  const chart = new Chart(Testing.app(), 'a');
  const nightly = schedule(chart, 'nightly', 'orders');
  new EtcdCluster(chart, 'orders');
  expect(nightly.node.validate()).toEqual([
    "another ServiceAccount of this chart is called 'orders' too; give each its own name",
  ]);
  expect(() => manifestsOf(nightly)).toThrow('[a/nightly] another ServiceAccount');
});

test('the work for each name does not grow with their number, not even when all are the same', () => {
  const steps = (count: number, nameOf: (index: number) => string) => {
    const chart = new Chart(Testing.app(), 'a');
    const constructs = Array.from({ length: count }, (_, index) => new Chart(chart, `${index}`, { namespace: 'shop' }));
    constructs.forEach((construct, index) => {
      takeName(construct, 'CronJob', nameOf(index));
    });
    const lookUps = vi.spyOn(chart.node, 'tryFindChild');
    constructs.forEach((construct, index) => {
      namesakeProblems(construct, 'CronJob', 'schedule', nameOf(index));
    });
    return lookUps.mock.calls.length;
  };
  expect(steps(1_000, (index) => `${index}`)).toBe(0);
  expect(steps(1_000, () => 'same')).toBe(10 * steps(100, () => 'same'));
});
