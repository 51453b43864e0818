import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const runAs = (version: string) =>
  spawnSync(process.execPath, [
    '--import',
    `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"${version}"}})`,
    join(import.meta.dirname, 'node-version.ts'),
  ]);

test('an older Node is refused with the version that is needed', () => {
  const { status, stderr } = runAs('20.20.2');
  expect(status).toBe(2);
  expect(String(stderr)).toMatch(/^etcd-agent: this is Node 20\.20\.2; use Node 24 or later, .*\n$/);
  expect(runAs('24.0.0').status).toBe(0);
});
