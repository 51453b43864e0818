import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const agent = join(import.meta.dirname, '../..');

/**
 * Returns the command line with which the image starts the agent, including node flags and environment, for this
 * machine's Node and the bundle. Optionally with another command.
 */
export function imageCommand(other?: readonly string[]): {
  readonly command: readonly string[];
  readonly env: Record<string, string>;
} {
  const dockerfile = readFileSync(join(agent, 'Dockerfile'), 'utf8');
  const entrypoint = /^ENTRYPOINT (\[.*\])$/m.exec(dockerfile)?.[1];
  if (!entrypoint) throw new Error('agent/Dockerfile: no ENTRYPOINT');
  const [, ...args] = other ?? (JSON.parse(entrypoint) as string[]);
  const variables = [...dockerfile.matchAll(/^ENV (.*)$/gm)].flatMap(([, line]) => line!.split(' '));
  const here: Record<string, true> = { MALLOC_ARENA_MAX: true, MALLOC_MMAP_THRESHOLD_: true, NODE_ENV: true };
  return {
    command: [process.execPath, ...args.map((arg) => arg.replace('/opt/etcd-agent', join(agent, 'lib')))],
    env: Object.fromEntries(
      variables.map((text) => text.split('=') as [string, string]).filter(([name]) => here[name]),
    ),
  };
}
