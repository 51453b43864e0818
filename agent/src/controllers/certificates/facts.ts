import type { AuthorityName, Leaves } from './wanted.ts';

// Content of the Secrets, as far as a decision needs it. It contains no key.

/** When a certificate is valid, in ms. */
export interface Span {
  readonly notBefore: number;
  readonly notAfter: number;
}

interface Unread {
  readonly kind: 'unread';
  readonly why: string;
}

/** There is no Secret of this name. */
interface Missing {
  readonly kind: 'missing';
}

interface Empty {
  readonly kind: 'empty';
}

/** Its type is one that only other writers use. */
interface Typed {
  readonly kind: 'typed';
  readonly type: string;
}

interface Broken {
  readonly kind: 'broken';
  readonly why: string;
}

interface Lost {
  /** First digits of the root that the cluster is known to have had here. */
  readonly lostRoot?: string;
}

interface MissingAuthority extends Missing, Lost {}

interface EmptyAuthority extends Empty, Lost {
  /** A person has requested a new authority. */
  readonly isAskedFor?: boolean;
}

export type AuthorityFacts = Unread | MissingAuthority | Typed | EmptyAuthority | Broken | WholeAuthority;

/** An authority with a readable root. */
export interface WholeAuthority {
  readonly kind: 'whole';
  readonly root: Span & {
    readonly id: string;
    /** The authority that its name states. Undefined if the name states none. */
    readonly says?: AuthorityName;
  };
  /** Why no intermediate can be signed: the root's key is missing or another one. */
  readonly rootKey?: string;
  readonly intermediate: IntermediateFacts;
  /** The value that requested this intermediate, or the next one. */
  readonly rotation: string;
  /** The value that requested this root. */
  readonly rootRotation: string;
  /** The value that asked for the last revocation. */
  readonly revocation: string;
  /** Serial numbers of the revoked intermediates, in hex. */
  readonly revoked: readonly string[];
  /** Its leaves, or the status, know intermediates that it does not. */
  readonly hasForgotten?: boolean;
  /** Its Secret was created with this root in it. Nobody may know what was issued after the backup. */
  readonly isRestored?: boolean;
  /** While the root is being replaced. */
  readonly next?: NextAuthority;
}

/** The authority that replaces the present one, with its keys. */
export interface NextAuthority {
  readonly root: Span & { readonly id: string };
  readonly intermediate: IntermediateFacts;
  /** Id of the certificate of its root that the present root signed. */
  readonly cross: string;
}

export type IntermediateFacts =
  | (Span & { readonly id: string; readonly why?: never })
  /** It cannot sign certificates; one that is revoked still signs lists. */
  | { readonly why: string; readonly isRevoked?: boolean; readonly id?: never };

export type LeafFacts = Unread | Missing | Typed | Empty | FilledLeaf;

export interface FilledLeaf {
  readonly kind: 'filled';
  /** Ids of the certificates in `ca.crt`. Undefined if it is missing or cannot be parsed. */
  readonly trusts?: readonly string[];
  /** Undefined if `tls.crt` is missing or cannot be parsed. */
  readonly certificate?: Span & {
    readonly id: string;
    /**
     * True if the root of the authority, or the next one, signed a certificate of the chain. Undefined if that root is
     * unknown.
     */
    readonly isOfRoot?: boolean;
    /** Id of the intermediate after it, if that signed it, and only a cross certificate follows. */
    readonly issuer?: string;
    /** Id of that cross certificate. */
    readonly cross?: string;
    /** Names and usages. */
    readonly shape: string;
  };
  /** `tls.key` matches. */
  readonly hasKey: boolean;
  /** Of `ca.crl`. `behind`: it lacks a revoked intermediate. Undefined: this leaf has none. */
  readonly list?: 'unreadable' | 'behind' | 'current';
  /** Its SHA-256. */
  readonly listId?: string;
  /** The issuer of the leaf did not sign it. */
  readonly isListOfOther?: boolean;
}

export type CertificateFacts<Authority = AuthorityFacts, Leaf = LeafFacts> = Readonly<
  Record<AuthorityName, Authority>
> &
  Leaves<Leaf>;
