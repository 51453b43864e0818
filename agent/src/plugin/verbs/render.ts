import { addAbortSignal, type Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { codeOf } from '../../lib/errors.ts';
import { readFileOrPipe } from '../../lib/files/read-file-or-pipe.ts';
import { Exit, usage } from '../exit.ts';
import type { Terminal } from '../terminal.ts';
import { option, type Verb } from '../verb.ts';

export const render: Verb = {
  name: 'render',
  args: '<file>',
  about:
    "print the manifests of the EtcdClusters, EtcdBackups, EtcdRestores, EtcdUsers, EtcdBackupSchedules and EtcdReconcilers in a YAML file ('-': standard input), as cdk8s-etcd render does; works without an API server",
  options: [
    option('--registry <name>', 'a registry that mirrors the images'),
    option('--agent-image <name>', 'an image of the agent that you built yourself'),
    option('--crds', 'put the CustomResourceDefinitions first; kubectl apply must then run twice'),
    option('--no-reconciler', 'leave out the reconciler, because the namespace already has one'),
    option(
      '--restore-pod <n>',
      'print the static Pod that restores a control plane from its store number <n>, such as 1, instead',
    ),
  ],
  async run({ args: [file = ''], flags, terminal }) {
    const { render: rendered } = await library();
    const { namespace, registry, agentImage, crds, reconciler, restorePod } = flags;
    const name = file === '-' ? 'standard input' : file;
    const images = { registry, agentImage };
    if (restorePod !== undefined && !/^[1-9]\d?$/.test(String(restorePod)))
      throw usage(`--restore-pod ${restorePod} is not the number of a store; write 1 for the first`);
    const options = {
      ...{ file: name, namespace, ...images, crds: crds === true, reconciler: reconciler !== false },
      restorePod: restorePod === undefined ? undefined : Number(restorePod),
    };
    const text = await read(file, terminal);
    try {
      const { yaml, lines } = rendered(text, options);
      // As it is: it is the text of the user's own file, and programs read it.
      terminal.streams.stdout.write(yaml);
      for (const line of lines) terminal.note(line);
      return Exit.done;
    } catch (error) {
      const { lines } = error as { lines?: readonly string[] };
      if (!lines) throw error;
      for (const line of lines) terminal.note(line);
      return Exit.usage;
    }
  },
};

interface Library {
  render(text: string, options: object): { readonly yaml: string; readonly lines: readonly string[] };
}

/** The constructs, which are large. `as string`: their sources obey another tsconfig.json than the agent's. */
const library = async (): Promise<Library> => (await import('../../../../src/render/run.ts' as string)) as Library;

async function read(file: string, { signal, streams }: Terminal): Promise<string> {
  try {
    if (file !== '-') return await readFileOrPipe(file, signal);
    return await textOf(addAbortSignal(signal, streams.stdin as Readable));
  } catch (error) {
    throw usage(`${file} cannot be read (${codeOf(error) ?? 'unknown error'})`);
  }
}
