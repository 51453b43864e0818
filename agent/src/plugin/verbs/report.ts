import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { codeOf } from '../../lib/errors.ts';
import { tarFile } from '../../lib/files/tar.ts';
import { Exit, usage } from '../exit.ts';
import { option, type Verb } from '../verb.ts';
import { timedName } from './backup.ts';

export const report: Verb = {
  name: 'report',
  args: '[name]',
  about: 'write an archive for support: resources, events, logs and status, without secrets',
  options: [option('--file <name>', 'name of the archive (default: the cluster with the time)')],
  async run({ args, flags, terminal, connect }) {
    const session = await connect();
    // Loaded lazily: the parser of YAML is large.
    const { collectReport } = await import('../report/collect.ts');
    const cluster = await session.cluster(args[0]);
    const files = await collectReport(session, terminal, cluster);
    const file =
      (flags.file as string | undefined) ?? `${timedName(`etcd-report-${cluster.metadata.name}`, session.now)}.tar.gz`;
    // Not readable for others: it has the names of what runs here.
    await writeFile(file, archiveOf(files, session.now), { mode: 0o600 }).catch((error) => {
      throw usage(`--file: ${file} cannot be written (${codeOf(error) ?? error.message})`);
    });
    if (session.notShown.length > 0)
      terminal.note(`not in it, because you may not read it: ${session.notShown.join(', ')}`);
    if (session.notRead.length > 0)
      terminal.note(`not in it, because it could not be read: ${session.notRead.join(', ')}`);
    terminal.print(
      `${file}: ${files.size} files. Values of Secrets, variables and annotations are left out; look through it before you send it`,
    );
    return Exit.done;
  },
};

function archiveOf(files: ReadonlyMap<string, string>, now: number): Buffer {
  const common = { type: 'file', mode: 0o644, uid: 0, gid: 0, modified: Math.floor(now / 1000) } as const;
  return gzipSync(tarFile([...files].map(([path, text]) => ({ ...common, path, content: Buffer.from(text) }))));
}
