import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { kubectl, type Output } from './kubectl';
import { slowTest } from './settings';

/** The command that reaches nodes: `$NODE_DRIVER shell NODE COMMAND…`, `$NODE_DRIVER off NODE` and the like. */
const driver = process.env.NODE_DRIVER ?? '';

/** A test that needs a shell on a node; `--smoke` skips it. */
export const nodeTest = driver ? slowTest : (test.skip as typeof test);

function run(verb: string, ...args: readonly string[]): Promise<Output> {
  const command = ['-c', `${driver} ${verb} "$@"`, 'sh', ...args];
  const running = promisify(execFile)('sh', command, { maxBuffer: 64 * 1024 ** 2 });
  running.child.stdin?.end();
  return running;
}

/** Switches a node off and on again, or disconnects and reconnects its network. */
export async function drive(verb: 'off' | 'on' | 'cut' | 'mend', node: string): Promise<void> {
  await (verb === 'on' ? powerOn(node) : run(verb, node));
}

/**
 * The network state of a node may take a while to disappear. A node that failed to start is partly on until it is
 * switched off again.
 */
async function powerOn(node: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await run('on', node);
      return;
    } catch (error) {
      if (tries === 6) throw error;
    }
    await run('off', node);
    await sleep(10_000);
  }
}

/** Runs a command on a node, as root. */
export const onNode = (node: string, ...command: readonly string[]): Promise<Output> => run('shell', node, ...command);

/** Their names, sorted. */
export const controlPlaneNodes = (): Promise<string[]> => nodes('--selector=node-role.kubernetes.io/control-plane');

export async function nodes(...selection: readonly string[]): Promise<string[]> {
  const { stdout } = await kubectl(['get', 'nodes', ...selection, '-o', 'jsonpath={.items[*].metadata.name}']);
  return stdout.split(' ').filter(Boolean).sort();
}
