import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { stringify } from 'yaml';
import { advising } from '../../commands/advice/advice.ts';
import { hostFacts } from './host-facts.ts';

let directory: string;
let warnings: string[];
const log = advising(pino({ level: 'warn' }, { write: (line) => warnings.push(JSON.parse(line).msg) }));

beforeEach(async () => {
  warnings = [];
  directory = await mkdtemp(join(tmpdir(), 'host-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function manifest(name: string): Promise<string> {
  const file = join(directory, 'etcd.yaml');
  const container = { name, image: 'registry.k8s.io/etcd:3.6.5-0', command: ['etcd', '--name=cp-1'] };
  await writeFile(file, stringify({ kind: 'Pod', spec: { containers: [container] } }));
  return file;
}

async function process(pid: number, name: string, parent: number, command: string[]): Promise<void> {
  await mkdir(join(directory, String(pid)));
  await writeFile(join(directory, `${pid}/stat`), `${pid} (${name}) S ${parent} 1 1 0`);
  await writeFile(join(directory, `${pid}/cmdline`), command.map((part) => `${part}\0`).join(''));
}

const ofProcess = () => hostFacts({ nodeName: 'cp-1', etcdProcess: true }, log, directory);

test('image and flags of a static pod', async () => {
  expect(await hostFacts({ etcdManifest: await manifest('etcd'), etcdProcess: false }, log)).toEqual({
    etcd: { from: 'static-pod', image: 'registry.k8s.io/etcd:3.6.5-0', command: ['etcd', '--name=cp-1'] },
  });
  expect(warnings).toEqual([]);
});

test('executable and flags of the service, not of an etcd in a pod', async () => {
  await process(7, 'etcd', 1, ['/usr/bin/etcd', '--name', 'cp-1']);
  await process(8, 'etcd', 5, ['etcd', '--name=orders-0']);
  await process(9, 'etcdctl', 1, ['etcdctl']);
  expect(await ofProcess()).toEqual({
    nodeName: 'cp-1',
    etcd: { from: 'process', command: ['/usr/bin/etcd', '--name', 'cp-1'] },
  });
});

test('missing facts are reported, and change nothing else', async () => {
  expect(await ofProcess()).toEqual({ nodeName: 'cp-1', etcd: undefined });
  await process(7, 'etcd', 1, ['etcd']);
  await process(8, 'etcd', 1, ['etcd']);
  // The etcd of a pod must not be used.
  await process(9, 'etcd', 5, ['etcd']);
  expect(await ofProcess()).toEqual({ nodeName: 'cp-1', etcd: undefined });
  expect(await hostFacts({ etcdManifest: await manifest('db'), etcdProcess: false }, log)).toBeUndefined();
  expect(warnings).toEqual([
    expect.stringMatching(/no process is named etcd; start it, or pass --etcd-manifest if it is a static Pod$/),
    expect.stringMatching(/several processes are named etcd \(pids 7, 8\); stop all but one, or pass --etcd-manifest/),
    expect.stringContaining("no container 'etcd'"),
  ]);
});

test('without a request there are no facts', async () => {
  expect(await hostFacts({ etcdProcess: false }, log)).toBeUndefined();
});
