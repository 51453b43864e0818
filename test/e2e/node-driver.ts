import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { kubectl, type Output } from './kubectl';
import { slowTest } from './settings';

/** The command that reaches nodes: `$NODE_DRIVER shell NODE COMMAND…`, `$NODE_DRIVER off NODE` and the like. */
const driver = process.env.NODE_DRIVER ?? '';

/** A test of what only a node's own shell can bring about; `--smoke` leaves it out. */
export const nodeTest = driver ? slowTest : test.skip;

function run(verb: string, ...args: readonly string[]): Promise<Output> {
  const command = ['-c', `${driver} ${verb} "$@"`, 'sh', ...args];
  const running = promisify(execFile)('sh', command, { maxBuffer: 64 * 1024 ** 2 });
  running.child.stdin?.end();
  return running;
}

/** Pulls a node's plug and puts it in again; takes it off the network and back. */
export async function drive(verb: 'off' | 'on' | 'cut' | 'mend', node: string): Promise<void> {
  await run(verb, node);
}

/** Runs a command on a node, as root. */
export const onNode = (node: string, ...command: readonly string[]): Promise<Output> => run('shell', node, ...command);

/** Their names, sorted. */
export const controlPlaneNodes = (): Promise<string[]> => nodes('--selector=node-role.kubernetes.io/control-plane');

export async function nodes(...selection: readonly string[]): Promise<string[]> {
  const { stdout } = await kubectl(['get', 'nodes', ...selection, '-o', 'jsonpath={.items[*].metadata.name}']);
  return stdout.split(' ').filter(Boolean).sort();
}
