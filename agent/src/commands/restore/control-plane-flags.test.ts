import { spawnSync } from 'node:child_process';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { buildProgram } from '../cli/program.ts';
import { Settings } from '../cli/settings.ts';
import { namedCommand } from './control-plane-flags.ts';

async function parsed(...args: string[]): Promise<Settings> {
  let settings: Settings | undefined;
  await buildProgram(async (invocation) => {
    settings = await Settings.load(invocation);
  }).parseAsync(args, { from: 'user' });
  return settings!;
}
const restore = (...args: string[]) =>
  parsed('restore', 'control-plane', '--store=file:///store', '--cluster=kubernetes', ...args);
const manifest = manifestOf(Buffer.from('x'));
const wordsOf = (command: string) =>
  spawnSync('bash', ['-c', `etcd-agent() { printf '%s\\n' "$@"; }\n${command}`], { encoding: 'utf8' })
    .stdout.trim()
    .split('\n');

test('the command that names the snapshot has the flags of this run', async () => {
  const given = [
    '--bump-revision=7',
    '--stop',
    '--wait=1m',
    '--etcdutl=/my/etcdutl',
    '--scratch=/a b',
    '--force-failed',
  ];
  const command = namedCommand(await restore(...given), manifest, { cluster: 'kubernetes' })!;
  const words = wordsOf(command);
  expect(words.slice(0, 3)).toEqual(['restore', 'control-plane', manifest.id]);
  expect(words).toEqual(expect.arrayContaining([...given, '--cluster=kubernetes', '--namespace=']));
  const again = await parsed(...words);
  expect(again.store()).toMatchObject({ filesystem: { path: '/store' } });
  expect(namedCommand(again, manifest, { cluster: 'kubernetes' })).toBeUndefined();
});

test('an exact key is named with the SHA-256', async () => {
  const command = namedCommand(await restore('--object-key=a key.db'), manifest, { cluster: 'kubernetes' })!;
  const words = wordsOf(command);
  expect(words).toEqual(
    expect.arrayContaining(['--object-key=a key.db', `--sha256=${manifest.content.sha256}`, '--namespace=']),
  );
  expect(namedCommand(await parsed(...words), manifest, { cluster: 'kubernetes' })).toBeUndefined();
});
