import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { MemberFlags } from './member-flags.ts';

const LOOKUP_LIMIT = 2_000;
const ANY = new Set(['0.0.0.0', '::']);
const LOOPBACK = ['127.0.0.1', '::1'];
export const isLoopback = (address: string): boolean => /^127\.|^::1$/.test(address);

/** Whether a client that connects to the first URL reaches a server that listens at the second one, on this machine. */
export async function reaches(client: string, server: string): Promise<boolean> {
  if (portOf(client) !== portOf(server)) return false;
  if (hostOf(client) === hostOf(server)) return true;
  const [theirs, ours] = await Promise.all([client, server].map((url) => addressesOf(url)));
  const isAny = ANY.has(hostOf(server));
  return theirs!.some((address) => (isAny ? isOwn(address) : ours!.includes(address)));
}

/** Whether only one of two servers can listen on this machine. */
export function needSamePort(one: string, other: string): boolean {
  const [first, second] = [one, other].map((url) => hostOf(url).replace('localhost', '127.0.0.1'));
  return portOf(one) === portOf(other) && (first === second || ANY.has(first!) || ANY.has(second!));
}

/** Whether this machine has the address. */
export const isOwn = (address: string): boolean => isLoopback(address) || addresses().has(address);

export const portOf = (url: string): string => {
  const { port = '', protocol } = URL.parse(url) ?? {};
  // URL drops the default port of its protocol.
  if (port === '' && /:(80|443)\/?$/.test(url)) return protocol === 'http:' ? '80' : '443';
  return port || '2379';
};

/** The addresses to which a client of this machine connects. */
export async function addressesOf(url: string): Promise<string[]> {
  const host = hostOf(url);
  if (ANY.has(host) || host === 'localhost') return LOOPBACK;
  if (isIP(host)) return [host];
  const found = await Promise.race([lookup(host, { all: true }), sleep(LOOKUP_LIMIT, [], { ref: false })]).catch(
    () => [],
  );
  return [host, ...found.map(({ address }) => address)];
}

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
