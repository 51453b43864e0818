import type { Scheme, Transport } from '../../../protocol/record.ts';
import { peerUrl } from '../names.ts';
import { listed } from './member-view.ts';
import type { View } from './view.ts';

// How the members speak, and how they are to: docs/contributing/protocol.md, "TLS on and off".

/** The scheme that the spec asks for. */
export const targetScheme = ({ spec }: View): Scheme => (spec.tls && !spec.disablingTls ? 'https' : 'http');

/** How the next start of a member speaks. */
export function transportOf(v: View): Transport {
  const target = targetScheme(v);
  return v.record.transport ?? { peers: target, clients: target, target, since: '' };
}

/** `initial-cluster` of a seed, which is alone. */
export const seedUrl = (v: View): string => peerUrl(v.cluster, 0, transportOf(v).peers);

const bothSchemes: readonly Scheme[] = ['http', 'https'];

/** The peer URLs of a member of this ordinal, in the order in which etcd keeps them. */
export const peerUrlsOf = (v: View, ordinal: number, schemes: readonly Scheme[]): string[] =>
  schemes.map((scheme) => peerUrl(v.cluster, ordinal, scheme));

const isDouble = (peerUrls: readonly string[]): boolean => peerUrls.length > 1;

/** The peer URLs of a member that joins: as those of the others, so that each can reach each at every step. */
export const joiningUrls = (v: View, ordinal: number): string[] =>
  peerUrlsOf(v, ordinal, listed(v).some(({ peerUrls }) => isDouble(peerUrls)) ? bothSchemes : [transportOf(v).peers]);
