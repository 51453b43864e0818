import { lookup } from 'node:dns/promises';
import { codeOf } from '../../lib/errors.ts';
import { selfOf } from '../etcd-config.ts';
import type { MemberConfig } from '../member-config.ts';

/**
 * What keeps a new member from joining with this `--initial-cluster`; undefined when nothing does. etcd would exit: for a
 * name that does not resolve yet, and for a list that does not name this member as it names itself.
 */
export async function joinProblem(config: MemberConfig, initialCluster: string): Promise<string | undefined> {
  const members = initialCluster.split(',');
  if (!members.includes(selfOf(config)))
    return `the permit's initial-cluster does not name ${selfOf(config)}; waiting for another one`;
  const own = new URL(config.peerUrl).hostname;
  const hosts = new Set(members.flatMap((member) => URL.parse(member.slice(member.indexOf('=') + 1))?.hostname ?? []));
  const problems = await Promise.all([...hosts].map((host) => hostProblem(host, host === own ? config.podIp : '')));
  return problems.find((problem) => problem !== undefined);
}

async function hostProblem(host: string, wanted: string): Promise<string | undefined> {
  try {
    const addresses = await lookup(host.replace(/^\[|\]$/g, ''), { all: true });
    if (!wanted || addresses.some(({ address }) => address === wanted)) return undefined;
    const found = addresses.map(({ address }) => address).join(', ');
    return `${host} resolves to ${found}, and this pod has ${wanted}; waiting for DNS`;
  } catch (error) {
    return `${host} does not resolve yet (${codeOf(error)}); waiting for DNS`;
  }
}
