// The real kstatus, and Argo CD's health checks in the Lua that Argo CD has, at each moment of a resource.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { cacheDirectory } from '../harness/etcd-binaries.ts';
import { luaOf, messageOf } from './argocd.ts';
import { moments } from './moments.ts';

const program = join(cacheDirectory, 'gitops-health/gitops-health');
const input = moments.map(({ kind, object }) => JSON.stringify({ object, lua: luaOf(kind) })).join('\n');
const answers = execFileSync(program, { input, encoding: 'utf8' }).trim().split('\n');

test.each(moments.map((moment, index) => [moment.kind, moment.what, moment, answers[index]!] as const))(
  '%s, %s',
  (_kind, _what, moment, answer) => {
    expect(JSON.parse(answer)).toEqual({
      kstatus: moment.kstatus,
      health: moment.health,
      message: messageOf(moment),
    });
  },
);

test.each(['UTC', 'Asia/Tokyo', 'America/New_York'])(
  'a status of ten minutes ago is new, one of thirty is old, in %s',
  (zone) => {
    const { object } = moments.find(({ what }) => what === 'its reconciler reports')!;
    const healthAfter = (minutes: number): string => {
      const observedAt = `${new Date(Date.now() - minutes * 60_000).toISOString().slice(0, 19)}Z`;
      const aged = { ...object, status: { ...object.status, observedAt } };
      const asked = JSON.stringify({ object: aged, lua: luaOf('EtcdCluster') });
      const env = { ...process.env, TZ: zone };
      return JSON.parse(execFileSync(program, { input: asked, encoding: 'utf8', env })).health;
    };
    expect([healthAfter(10), healthAfter(30)]).toEqual(['Healthy', 'Degraded']);
  },
);

test('reports a table of it', () => {
  const rows = moments.map(({ kind, what, kstatus, health }) => `${kind} | ${what} | ${health} | ${kstatus}`);
  console.info(rows.map((row) => `gitops: ${row}`).join('\n'));
});
