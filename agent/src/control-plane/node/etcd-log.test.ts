import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logErrors } from './etcd-log.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'log-'));
});
afterEach(() => rm(root, { recursive: true }));

const since = new Date('2026-11-22T03:00:00Z');
const at = (time: string, level: string, msg: string) => `{"level":"${level}","ts":"${time}","msg":"${msg}"}`;

test('errors since a given time, in plain logs and in logs of the container runtime', async () => {
  await writeFile(
    join(root, '0.log'),
    [
      `2026-11-22T02:00:00.1Z stderr F ${at('2026-11-22T02:00:00.0Z', 'fatal', 'before')}`,
      `2026-11-22T03:00:01.1Z stderr F ${at('2026-11-22T03:00:01.0Z', 'warn', 'slow')}`,
      `2026-11-22T03:00:02.1Z stderr F ${at('2026-11-22T03:00:02.0Z', 'error', 'bad')}`,
      '2026-11-22T03:00:03.1Z stderr F panic: oh',
    ].join('\n'),
  );
  await writeFile(join(root, '1.log'), `${at('2026-11-22T03:00:04.0Z', 'fatal', 'worse')}\n`);
  const { files, errors } = await logErrors([join(root, '*.log')], since);
  expect(files).toHaveLength(2);
  expect(errors.map((line) => /bad|panic|worse/.exec(line)?.[0])).toEqual(['bad', 'panic', 'worse']);
});

test('a missing log is not an error', async () => {
  expect(await logErrors([join(root, 'nothing-*')], since)).toEqual({ files: [], errors: [] });
});
