import { networkInterfaces } from 'node:os';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { MemberFlags } from './member-flags.ts';

const ANY = new Set(['0.0.0.0', '::']);

/** Refuses flags that were copied from another node: they name addresses that this machine does not have. */
export function refuseOtherNode(
  { source, member }: { readonly source: string; readonly member: Pick<MemberFlags, 'name' | 'listenPeerUrls'> },
  own: ReadonlySet<string> = addresses(),
): void {
  const hosts = member.listenPeerUrls.map(hostOf);
  if (hosts.some((host) => ANY.has(host) || host === 'localhost' || own.has(host))) return;
  throw new AgentError(
    ExitCode.refused,
    `${source}: these flags belong to another node: ${member.name} listens on ${hosts.join(', ')}, which is not an address of this machine`,
  );
}

export const hostOf = (url: string): string => (URL.parse(url)?.hostname ?? url).replaceAll(/[[\]]/g, '');

export const addresses = (): Set<string> =>
  new Set(Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)));
