import { lookup } from 'node:dns/promises';
import type { DataDirRequest } from '../../backup/restore/restore-marker.ts';
import { membersOf } from '../../etcd/offline/cluster-id.ts';
import { codeOf, usageError } from '../../lib/errors.ts';

const FLAG = '--initial-advertise-peer-urls';

/**
 * Throws if etcdutl would refuse the members, so that nothing is downloaded in vain. `isGiven`: the peer URLs are not the default.
 */
export async function checkPeers(
  { name, initialCluster, initialAdvertisePeerUrls }: DataDirRequest,
  isGiven: boolean,
): Promise<void> {
  const members = membersOf(initialCluster);
  const [...advertised] = membersOf(urlsOf(initialAdvertisePeerUrls, name)).get(name) ?? [];
  for (const url of advertised) checkUrl(FLAG, url);
  for (const [member, urls] of members) {
    if (urls.includes('')) {
      throw usageError(`--initial-cluster: ${member} has no peer URL; write it like ${member}=https://${member}:2380`);
    }
    for (const url of urls) checkUrl('--initial-cluster', url);
  }
  const own = members.get(name);
  if (!own) {
    throw usageError(
      `--name: '${name}' is not a member in --initial-cluster; pass --name with one of ${[...members.keys()].join(', ')}`,
    );
  }
  const write = `write ${FLAG}=${own.join(',')}`;
  if (String([...advertised].sort()) === String([...own].sort())) return;
  if (!isGiven) throw usageError(`${FLAG}: is missing; ${write}, as --initial-cluster has it for ${name}`);
  if (await areSame(advertised, own, write)) return;
  throw usageError(
    `${FLAG}: ${advertised.join(',')} does not fit --initial-cluster, which has ${own.join(',')} for ${name}; make them equal`,
  );
}

/** Form of `--initial-cluster` for one member. */
export const urlsOf = (peerUrls: string, name: string): string =>
  peerUrls
    .split(',')
    .map((url) => `${name}=${url}`)
    .join(',');

function checkUrl(flag: string, url: string): void {
  if (!url.includes('://')) {
    throw usageError(`${flag}: '${url}' has no scheme; write https://${url}, or http:// without TLS`);
  }
  if (/^(https?|unixs?):\/\/[^/]*:\d+$/.test(url)) return;
  throw usageError(`${flag}: '${url}' is not a valid peer URL; write it like https://etcd-0:2380`);
}

/** Whether the URLs have the same addresses, which is enough for etcd. */
async function areSame(advertised: readonly string[], own: readonly string[], write: string): Promise<boolean> {
  if (advertised.length !== own.length) return false;
  const [these, those] = [await endpointsOf(advertised, write), await endpointsOf(own, write)];
  const isAmong = (some: readonly string[], all: readonly string[][]) =>
    all.some((each) => each.some((one) => some.includes(one)));
  return these.every((each) => isAmong(each, those)) && those.every((each) => isAmong(each, these));
}

const endpointsOf = (urls: readonly string[], write: string): Promise<string[][]> =>
  Promise.all(
    urls.map(async (url) => {
      const [, scheme, host, port] = /^(\w+):\/\/(.*):(\d+)$/.exec(url)!;
      const name = host!.replace(/^\[(.*)\]$/, '$1');
      // etcd does not resolve it either.
      const found =
        name === 'localhost' ? [{ address: name }] : await lookup(name, { all: true }).catch((error) => error);
      if (!Array.isArray(found)) {
        throw usageError(
          `${FLAG}: ${name} cannot be resolved (${codeOf(found)}), so it is not known whether the peer URLs are those in --initial-cluster; ${write}`,
        );
      }
      return found.map(({ address }) => `${scheme} ${address} ${port}`);
    }),
  );
