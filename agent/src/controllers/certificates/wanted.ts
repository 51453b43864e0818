import { isIP } from 'node:net';
import { clientServiceName } from '../../../../src/etcd/client-service-name.ts';
import { defaults } from '../../../../src/resource/defaults.ts';
import type { EtcdClusterSpec } from '../../../../src/resource/types.ts';
import type { NamedAlsoTrust, NamedTls } from '../../../../src/tls/default-names.ts';
import { ofSource } from '../objects/cluster-object.ts';
import type { UserWish } from '../objects/user-object.ts';
import { ordinals } from '../port/names.ts';

export const authorityNames = ['peers', 'clients'] as const;
export type AuthorityName = (typeof authorityNames)[number];
/** The leaf of an EtcdUser, by the name of its Secret. */
export type UserLeaf = `user/${string}`;
export type LeafName = 'peer' | 'server' | 'client' | 'root' | 'backup' | UserLeaf;

/** A value for each leaf of a cluster. Not every cluster has leaves of root, of its backups and of users. */
export type Leaves<T> = Readonly<Record<'peer' | 'server' | 'client', T>> &
  Readonly<Partial<Record<'root' | 'backup', T>>> & { readonly [user: UserLeaf]: T };

/** The authority that signs a leaf. */
export const issuerOf = (leaf: LeafName): AuthorityName => (leaf === 'peer' ? 'peers' : 'clients');

export const isUser = (leaf: AuthorityName | LeafName): leaf is UserLeaf => leaf.startsWith('user/');
export const userLeaf = (secret: string): UserLeaf => `user/${secret}`;

/** The leaves of a cluster, those of its users last. */
export const leafNames = ({ leaves }: Pick<WantedCertificates, 'leaves'>): LeafName[] =>
  Object.keys(leaves) as LeafName[];

export interface KnownUsers {
  readonly wishes: readonly UserWish[];
  /** Time at which they were first known to this process, ms. */
  readonly since: number;
}

/** Common names. They have at most 64 characters. */
export const intermediateName = (cluster: string, of: AuthorityName): string => `${cluster.slice(0, 50)} ${of} CA`;
export const rootName = (cluster: string, of: AuthorityName): string => `${cluster.slice(0, 50)} ${of} root`;
/** Another name for each root: chains are built by the names of issuers. */
export const nextRootName = (cluster: string, of: AuthorityName, id: string): string =>
  rootName(`${cluster.slice(0, 41)} ${id.slice(0, 8)}`, of);

/** The authority for which a root was created. Undefined if the root is foreign. */
export const madeFor = (commonName: string): AuthorityName | undefined =>
  authorityNames.find((of) => commonName.endsWith(` ${of} root`));

/** Statements of a leaf about its holder. Every leaf may be a client; etcd's JSON gateway dials with the server's. */
export interface Leaf {
  readonly commonName?: string;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly isServer: boolean;
}

/** The certificates of one source. Without `managed`, another program writes the Secrets. */
type TlsSource = NamedTls | NamedAlsoTrust;

/** The relevant part of an EtcdCluster's spec. */
export type CertificatesSpec = Pick<EtcdClusterSpec, 'paused' | 'clusterDomain'> & { readonly tls?: NamedTls };

/** The certificates that a cluster should have. */
export interface WantedCertificates {
  readonly cluster: string;
  /** Names of the Secrets. */
  readonly authorities: Readonly<Record<AuthorityName, string>>;
  readonly leaves: Leaves<string>;
  readonly shapes: Leaves<Leaf>;
  /** Secrets of users that may get a first certificate. */
  readonly accepted: readonly string[];
  /** Users that get no certificate, and why, by the name of the Secret. */
  readonly refusedUsers: Readonly<Record<string, string>>;
  /** Since when the users are known, ms. Undefined: there may be users whose certificates nobody has looked at yet. */
  readonly usersSince: number | undefined;
  /** Undefined if no intermediate is requested. */
  readonly rotation?: string;
  /** Undefined if no root is requested. */
  readonly rootRotation?: string;
  /** Undefined if no revocation is requested. */
  readonly revocation?: string;
  /** Parts of the spec that cannot be followed. */
  readonly mistakes: readonly string[];
  /** Two certificates would overwrite each other. */
  readonly isAmbiguous: boolean;
  /** `spec.paused`: nothing is written. */
  readonly isPaused: boolean;
}

/** The source whose certificates the reconciler issues: that of the members, or the one that they trust too. */
const issuedSource = (tls: NamedTls): TlsSource | undefined => [tls, tls.alsoTrust].find((source) => source?.managed);

/** Undefined if the reconciler does not manage the certificates. `known`: undefined while the EtcdUsers are not known. */
export function wantedOf(
  name: string,
  namespace: string,
  { tls: spec, paused = false, clusterDomain = defaults.EtcdClusterSpec.clusterDomain }: CertificatesSpec,
  known: KnownUsers | undefined,
): WantedCertificates | undefined {
  const tls = spec && issuedSource(spec);
  if (!tls?.managed) return undefined;
  const users = known?.wishes ?? [];
  const { managed, peerSecret, serverSecret, clientSecret, rootSecret, backupSecret } = tls;
  const { serverNames = [], intermediateRotation, rootRotation, intermediateRevocation } = managed;
  const authorities = { peers: managed.peerAuthority, clients: managed.clientAuthority };
  const leaves = {
    ...{ peer: peerSecret, server: serverSecret, client: clientSecret },
    ...(rootSecret !== undefined && { root: rootSecret }),
    ...(backupSecret !== undefined && { backup: backupSecret }),
  };
  const more = serverNames.map((each) => ({ each, name: normalized(each) }));
  const names = more.flatMap((found) => found.name ?? []);
  const peers = peerNames(name, namespace, clusterDomain);
  const dnsNames = [...clientNames(name, namespace, clusterDomain), ...peers];
  const own = ofSource(tls);
  const twice = repeated(own);
  const mistakes = twice.map(
    (secret) => `spec.tls names Secret ${secret} twice; give each certificate a Secret of its own`,
  );
  const refusedUsers = refusals(users, own, mistakes);
  const good = users.filter(({ secret }) => refusedUsers[secret] === undefined);
  return {
    ...{ cluster: name, authorities, refusedUsers },
    leaves: { ...leaves, ...Object.fromEntries(good.map(({ secret }) => [userLeaf(secret), secret])) },
    accepted: good.filter(({ isAccepted }) => isAccepted).map(({ secret }) => secret),
    shapes: {
      ...Object.fromEntries(good.map(({ secret, user }) => [userLeaf(secret), named(user)])),
      // No address: etcd looks up every name of a peer's leaf until one is the caller's.
      peer: { dnsNames: peers, ipAddresses: [], isServer: true },
      server: {
        dnsNames: unique([...dnsNames, ...names.filter((each) => !isIP(each))]),
        ipAddresses: unique(['127.0.0.1', '::1', ...names.filter((each) => isIP(each))]),
        isServer: true,
      },
      client: named(`${name}-client`),
      ...(rootSecret !== undefined && { root: named('root') }),
      ...(backupSecret !== undefined && { backup: named(`${name}-backup`) }),
    },
    rotation: intermediateRotation,
    rootRotation,
    revocation: intermediateRevocation,
    mistakes: [
      ...mistakes,
      ...more
        .filter((found) => found.name === undefined)
        .map(
          ({ each }) =>
            `spec.tls.managed.serverNames: '${each}' is neither a DNS name nor an IP address; it is left out`,
        ),
    ],
    isAmbiguous: twice.length > 0,
    usersSince: known?.since,
    isPaused: paused,
  };
}

/** A client whose name is etcd's user. */
const named = (commonName: string): Leaf => ({ commonName, dnsNames: [], ipAddresses: [], isServer: false });

/** A certificate in the Secret of another one would take it away. Each Secret has one wish. */
const refusals = (
  users: readonly UserWish[],
  own: readonly string[],
  [mistake]: readonly string[],
): Record<string, string> =>
  Object.fromEntries(
    users
      .filter(({ secret }) => mistake !== undefined || own.includes(secret))
      .map(({ secret }) => [
        secret,
        mistake === undefined
          ? `spec.certificateSecret: Secret ${secret} is one of the cluster; name a Secret of its own`
          : `EtcdCluster: ${mistake}`,
      ]),
  );

/** The names that members use for each other, of every possible ordinal. */
const peerNames = (cluster: string, namespace: string, domain: string): string[] =>
  ordinals.map((ordinal) => `${cluster}-${ordinal}.${cluster}-peers.${namespace}.svc.${domain}`);

/** The names that a client may use for the cluster's Service and for that of a single member. */
function clientNames(cluster: string, namespace: string, domain: string): string[] {
  const hosts = [cluster, ...ordinals.map((ordinal) => clientServiceName(`${cluster}-${ordinal}`))];
  const suffixes = [namespace, `${namespace}.svc`, `${namespace}.svc.${domain}`];
  return ['localhost', ...hosts.flatMap((host) => [host, ...suffixes.map((suffix) => `${host}.${suffix}`)])];
}

const label = '[a-z0-9_]([-a-z0-9_]{0,61}[a-z0-9_])?';
const dnsName = new RegExp(`^(?=.{1,253}$)([*][.])?${label}([.]${label})*$`);

/** Returns one spelling for each name. Undefined if no certificate can have the name. */
function normalized(name: string): string | undefined {
  const version = isIP(name);
  if (version === 4) return name;
  if (version === 6) return URL.parse(`http://[${name}]`)?.hostname.slice(1, -1);
  const lower = name.toLowerCase();
  return dnsName.test(lower) ? lower : undefined;
}

const unique = (names: readonly string[]): string[] => [...new Set(names)];

const repeated = (names: readonly string[]): string[] =>
  unique(names.filter((name, index) => names.indexOf(name) !== index));
