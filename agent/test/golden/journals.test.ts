import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../../src/commands/cli/settings.ts';
import { begun, endedBefore } from '../../src/commands/restore/control-plane-execute.ts';
import { Journal } from '../../src/control-plane/restore/journal.ts';
import { AgentError } from '../../src/lib/errors.ts';
import { inLines } from './in-lines.ts';

// What `restore control-plane` has left on a node, and what the same command does next.

const journals = join(import.meta.dirname, 'journals');
const same = 'etcd-snapshot-20261122-020000-3f9c2a';

const asked = (id: string, ...flags: string[]) =>
  ({
    args: flags.includes('config') ? [] : [id],
    text: (name: string) => (name === 'snapshot' ? id : undefined),
    flag: (name: string) => flags.includes(name),
    isSet: (name: string) => flags.includes(name),
  }) as unknown as Settings;

async function decide(text: string): Promise<object> {
  const place = await mkdtemp(join(tmpdir(), 'journal-'));
  const folder = join(place, 'etcd-restore-20261122-031500');
  try {
    await mkdir(join(folder, 'manifests'), { recursive: true });
    await writeFile(join(folder, 'journal.json'), text);
    const places = { manifestsDir: place, journalDir: place };
    const begin = (settings: Settings) =>
      begun(settings, places).then(
        (journal) => (journal ? 'continues' : 'begins'),
        (error) => {
          if (!(error instanceof AgentError)) throw error;
          return error.exitCode;
        },
      );
    const { id, clusterId, revision, bump, token, replacedDir } = (await Journal.newest(place))!.content;
    return {
      journal: { id, clusterId, revision, bump, token, replacedDir },
      same: await begin(asked(same)),
      another: await begin(asked('etcd-snapshot-20261123-020000-0a1b2c')),
      undo: await begin(asked(same, 'undo')),
      'static Pod again': (await endedBefore(asked(same, 'config'), places)) ? 'was carried out' : 'is carried out',
    };
  } finally {
    await rm(place, { recursive: true });
  }
}

test('the journals of nodes are read as ever', async () => {
  const decisions: Record<string, object> = {};
  for (const name of (await readdir(journals)).sort())
    if (name !== 'decisions.json') decisions[name] = await decide(await readFile(join(journals, name), 'utf8'));
  const path = join(journals, 'decisions.json');
  if (process.env.UPDATE_GOLDEN === '1') await writeFile(path, inLines(decisions));
  else expect(inLines(decisions)).toBe(await readFile(path, 'utf8'));
});
