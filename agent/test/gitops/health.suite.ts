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

test('reports a table of it', () => {
  const rows = moments.map(({ kind, what, kstatus, health }) => `${kind} | ${what} | ${health} | ${kstatus}`);
  console.info(rows.map((row) => `gitops: ${row}`).join('\n'));
});
