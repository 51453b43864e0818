import { lookup } from 'node:dns/promises';
import { codeOf } from '../../lib/errors.ts';
import { ownUrls, selfOf } from '../etcd-config.ts';
import type { MemberConfig } from '../member-config.ts';

/**
 * Returns why a new member cannot join with this `--initial-cluster` yet, or undefined if it can. etcd would exit if its own name
 * or those of all others do not resolve, and if the list does not contain this member with exactly its own name and URLs, of which
 * etcd listens at one. The name of a member that is down need not resolve: it has none while its pod does not exist.
 */
export async function joinProblem(config: MemberConfig, initialCluster: string): Promise<string | undefined> {
  const members = initialCluster.split(',');
  if (!ownUrls(config, initialCluster).includes(config.peerUrl))
    return `the permit's initial-cluster does not list ${selfOf(config)}; waiting for another permit`;
  const own = new URL(config.peerUrl).hostname;
  const hosts = new Set(members.flatMap((member) => URL.parse(member.slice(member.indexOf('=') + 1))?.hostname ?? []));
  const problemOf = (host: string) => hostProblem(host, host === own ? config.podIp : '');
  const others = await Promise.all([...hosts].filter((host) => host !== own).map(problemOf));
  return (await problemOf(own)) ?? (others.includes(undefined) ? undefined : others[0]);
}

async function hostProblem(host: string, expected: string): Promise<string | undefined> {
  try {
    const addresses = await lookup(host.replace(/^\[|\]$/g, ''), { all: true });
    if (!expected || addresses.some(({ address }) => address === expected)) return undefined;
    const found = addresses.map(({ address }) => address).join(', ');
    return `${host} resolves to ${found}, but the address of this pod is ${expected}; waiting for DNS`;
  } catch (error) {
    return `${host} does not resolve yet (${codeOf(error)}); waiting for DNS`;
  }
}
