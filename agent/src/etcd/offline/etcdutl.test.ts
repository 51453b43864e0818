import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from '../../../test/support/program.ts';
import { ExitCode } from '../../lib/errors.ts';
import { Etcdutl } from './etcdutl.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'etcdutl-'));
});
afterEach(() => rm(directory, { recursive: true }));

const verdict = async (words: string, exitCode: number) => {
  const version = '[ "$1" = version ] && echo "etcdutl version: 3.7.0" && exit';
  const tool = new Etcdutl(await program(join(directory, 'etcdutl'), version, `echo '${words}' >&2; exit ${exitCode}`));
  return [await tool.snapshotStatus('/f', {}), await tool.hashKV('/f', 7, {})];
};
const refused = (why: string) => [
  { outcome: 'refused', why: `etcdutl cannot open the database (${why})` },
  { outcome: 'refused', why: `etcdutl cannot read the keys of the database (${why})` },
];

test('the output of etcdutl is shown only if its text is fixed; keys and values never are', async () => {
  expect(await verdict('Error: invalid database', 1)).toEqual(refused('invalid database'));
  expect(await verdict('panic: cannot unmarshal key secret value secret', 2)).toEqual(refused('exit code 2'));
});

test.each([
  ['fails', 'exit 2'],
  ['reports nothing', 'exit 0'],
  ['echoes its arguments', 'echo "$@"'],
])('a program that is not etcdutl and %s is a mistake of the user, not a verdict on the file', async (_, line) => {
  const other = await program(join(directory, 'other'), line);
  const mistake = { exitCode: ExitCode.usage, message: expect.stringMatching(`${other} is not etcdutl`) };
  await expect(new Etcdutl(other).snapshotStatus('/f', {})).rejects.toMatchObject(mistake);
  await expect(new Etcdutl(other).hashKV('/f', 7, {})).rejects.toMatchObject(mistake);
});
