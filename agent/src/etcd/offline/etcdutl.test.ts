import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from '../../../test/support/program.ts';
import { Etcdutl } from './etcdutl.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'etcdutl-'));
});
afterEach(() => rm(directory, { recursive: true }));

const verdict = async (words: string, exitCode: number) => {
  const tool = new Etcdutl(await program(join(directory, 'etcdutl'), `echo '${words}' >&2; exit ${exitCode}`));
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
