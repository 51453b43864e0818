import { readFile } from 'node:fs/promises';
import { conditionEvents } from '../../src/controllers/kubernetes/status-events.ts';
import type { ClusterStatus } from '../../src/protocol/cluster-status.ts';
import { type ConditionType, conditionTypes } from '../../src/protocol/condition.ts';
import { reasons } from '../../src/protocol/reasons.ts';

const read = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');
const page = await read('docs/operations/runbook.md');
const sections = page.split(/^### /m).slice(1);
const headings = sections.map((section) => section.split('\n')[0]);

test('docs/operations/runbook.md has one heading for each reason of a condition, and no other', () => {
  expect(headings.toSorted()).toEqual(Object.keys(reasons).toSorted());
});

test('every heading is followed by what it means', () => {
  const empty = sections.filter((section) => section.split('\n').slice(1).join('').trim().length < 20);
  expect(empty).toEqual([]);
});

/** Returns true if a condition with this status becomes a Warning. */
function isWarning(type: ConditionType, status: 'True' | 'False'): boolean {
  const condition = { type, status, reason: 'MemberDown', message: '', lastTransitionTime: '' };
  return conditionEvents(undefined, { conditions: [condition] } as unknown as ClusterStatus).some(
    (event) => event.type === 'Warning',
  );
}

test('the table lists each condition with the status that needs a person', () => {
  const [, table = ''] = /^## Conditions\n(.*?)^## /ms.exec(page) ?? [];
  const rows = [...table.matchAll(/^\| `(\w+)` \| .* \| ([\w–]+) \|$/gm)].map(([, type, bad]) => `${type}: ${bad}`);
  const needs = (type: ConditionType) => (['True', 'False'] as const).find((status) => isWarning(type, status)) ?? '–';
  expect(rows).toEqual(conditionTypes.map((type) => `${type}: ${needs(type)}`));
});

test('the table of phases has each phase that is not a reason', async () => {
  const source = await read('agent/src/controllers/cluster/conditions/status.ts');
  const [, table = ''] = /^## Phases\n(.*?)^## /ms.exec(page) ?? [];
  const phases = [...table.matchAll(/^\| (\*.*?) \|/gm)].flatMap(([, cell]) => cell!.replaceAll('*', '').split(', '));
  const named = [...source.matchAll(/\bphase: '(\w+)'/g)].map(([, phase]) => phase!);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((phase) => !phases.includes(phase))).toEqual([]);
  expect(phases.filter((phase) => !(phase in reasons) && ![...named, 'Pending'].includes(phase))).toEqual([]);
});

test('the custom resource names each condition', async () => {
  const [, named] = /"The conditions: (Available, .*)\."/.exec(await read('crds/etcdclusters.yaml')) ?? [];
  expect(named?.split(', ')).toEqual(conditionTypes);
});
