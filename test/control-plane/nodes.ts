import type { Output } from '../e2e/support/kubectl';
import { controlPlaneNodes, onNode as runOnNode } from '../e2e/support/node-driver';

/** Runs lines of a shell on a node, as root; what they wrote is thrown with it when they fail. */
export function onNode(node: string, ...lines: readonly string[]): Promise<Output> {
  const script = ['set -e', ...lines].join('\n');
  return runOnNode(node, 'bash', '-c', script).catch(({ code, stdout, stderr }) => {
    throw new Error(`on ${node}: ${lines.at(-1)} ended with ${code}:\n${stderr}\n${stdout}`);
  });
}

/** Where the nodes reach this machine: it is their way out, unless HOST_ADDRESS says better. */
export async function hostAddress(): Promise<string> {
  if (process.env.HOST_ADDRESS) return process.env.HOST_ADDRESS;
  const [node] = await controlPlaneNodes();
  const { stdout } = await onNode(node!, 'ip -4 route show default');
  const [, address] = /\bvia (\S+)/.exec(stdout) ?? [];
  if (!address) throw new Error(`${node} has no default route; set HOST_ADDRESS`);
  return address;
}
