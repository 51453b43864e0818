import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shortId } from '../lib/certificates.ts';
import { listId } from '../lib/revocation-lists.ts';
import { withoutUndefined } from '../lib/without-undefined.ts';
import type { AgentStatus } from '../protocol/agent-status.ts';
import type { MemberConfig } from './member-config.ts';

/** The revocation list of each end, if there is one. */
export interface RevocationLists {
  readonly peer?: string;
  readonly client?: string;
}

export const listFile = (directory: string): string => join(directory, 'ca.crl');

/** Lists that are there when etcd.yaml is written. etcd refuses everybody without one that its configuration names. */
export async function presentLists({ peerTlsDir, serverTlsDir }: Tls): Promise<RevocationLists> {
  const [peer, client] = await Promise.all([peerTlsDir, serverTlsDir].map(presentIn));
  return withoutUndefined({ peer, client });
}

type Tls = Pick<MemberConfig, 'peerTlsDir' | 'serverTlsDir'>;

async function presentIn(directory: string | undefined): Promise<string | undefined> {
  if (directory === undefined) return undefined;
  const file = listFile(directory);
  return access(file).then(
    () => file,
    () => undefined,
  );
}

/** `etcdYaml`: what this member's etcd was started with. */
export async function listsOf(
  { peerTlsDir, serverTlsDir }: Tls,
  etcdYaml: string,
): Promise<AgentStatus['revocationLists']> {
  const [peer, client] = await Promise.all([peerTlsDir, serverTlsDir].map((each) => idIn(each, etcdYaml)));
  return peer === undefined && client === undefined ? undefined : withoutUndefined({ peer, client });
}

async function idIn(directory: string | undefined, etcdYaml: string): Promise<string | undefined> {
  if (directory === undefined) return undefined;
  const file = listFile(directory);
  if (!etcdYaml.includes(file)) return etcdYaml === '' ? undefined : 'none';
  return readFile(file).then(
    (der) => shortId(listId(der)),
    () => undefined,
  );
}
