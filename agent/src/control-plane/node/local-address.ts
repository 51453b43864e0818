import { networkInterfaces } from 'node:os';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { EtcdNode } from './node.ts';

const ANY = new Set(['0.0.0.0', '::']);

/** Flags that were copied from another node name its addresses. */
export function refuseOtherNode(
  { source, member }: Pick<EtcdNode, 'source' | 'member'>,
  own: ReadonlySet<string> = addresses(),
): void {
  const hosts = member.listenPeerUrls.map(hostOf);
  if (hosts.some((host) => ANY.has(host) || host === 'localhost' || own.has(host))) return;
  throw new AgentError(
    ExitCode.refused,
    `${source}: these are the flags of another node: ${member.name} listens on ${hosts.join(', ')}, which is no address of this machine`,
  );
}

export const hostOf = (url: string): string => (URL.parse(url)?.hostname ?? url).replaceAll(/[[\]]/g, '');

export const addresses = (): Set<string> =>
  new Set(Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)));
