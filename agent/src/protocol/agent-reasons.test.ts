import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentMetrics } from '../member/agent-metrics.ts';
import { initialStatus } from '../member/sidecar/serve-status.ts';
import { agentReasons } from './agent-reasons.ts';

const page = readFileSync(new URL('../../../docs/clusters/member-pods.md', import.meta.url), 'utf8');
const section = (title: string) => page.split(/^## /m).find((part) => part.startsWith(title)) ?? '';

test('docs/clusters/member-pods.md has a line for each reason, and no other line', () => {
  const lines = Array.from(section('Reasons').matchAll(/^\| `(\w+)` \|/gm), ([, reason]) => reason!);
  expect(lines.toSorted()).toEqual([...agentReasons].sort());
});

test('each reason is used somewhere', () => {
  const member = join(import.meta.dirname, '../member');
  const names = readdirSync(member, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!test|fixture)\.ts$/.test(name),
  );
  const source = names.map((name) => readFileSync(join(member, name), 'utf8')).join('\n');
  expect(agentReasons.filter((reason) => !source.includes(`'${reason}'`))).toEqual([]);
});

test('docs/clusters/member-pods.md has every metric, and no other', () => {
  const config = { pod: 'db-0', podUid: 'u', podIp: '', ordinal: 0, etcdVersion: '3.6.1', minEpoch: 0 };
  const status = {
    ...initialStatus(config as Parameters<typeof initialStatus>[0]),
    ...{ reason: 'NoRecord', recordRev: 1, certificate: { notAfter: '2026-01-01T00:00:00Z' } },
    etcd: { up: true } as never,
    volume: { walPresent: true, freeBytes: 1, totalBytes: 2, quarantineCount: 0, identity: { epoch: 1 } as never },
  };
  const exposed = agentMetrics(status, { now: 9, recordReadAt: 1, waitingSince: 1 });
  const names = Array.from(exposed.matchAll(/^# TYPE (\w+) gauge$/gm), ([, name]) => name!);
  const documented = Array.from(section('Metrics').matchAll(/`(etcd_agent_\w+)`/g), ([, name]) => name!);
  expect([...new Set(documented)].sort()).toEqual(names.toSorted());
});
