import type { AuthorityName } from './wanted.ts';

// What the Secrets hold, as far as a decision needs it. No key is in here.

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

/** Of a type that only somebody else writes. */
interface Typed {
  readonly kind: 'typed';
  readonly type: string;
}

interface Broken {
  readonly kind: 'broken';
  readonly why: string;
}

interface EmptyAuthority extends Empty {
  /** First digits of the root that the cluster is known to have had here. */
  readonly lostRoot?: string;
  /** Somebody has asked for a new authority. */
  readonly isAskedFor?: boolean;
}

export type AuthorityFacts = Unread | Missing | Typed | EmptyAuthority | Broken | WholeAuthority;

/** An authority with a readable root. */
export interface WholeAuthority {
  readonly kind: 'whole';
  readonly root: Span & {
    readonly id: string;
    /** The authority that its name says it is; undefined: it says nothing. */
    readonly says?: AuthorityName;
  };
  /** Why no intermediate can be signed: the root's key is missing or another one. */
  readonly rootKey?: string;
  readonly intermediate: IntermediateFacts;
  /** The value that asked for this intermediate, or for the next one. */
  readonly rotation: string;
  /** The value that asked for this root. */
  readonly rootRotation: string;
  /** The value that asked for the last revocation. */
  readonly revocation: string;
  /** Serial numbers of the revoked intermediates, in hex. */
  readonly revoked: readonly string[];
  /** While the root is being replaced. */
  readonly next?: NextAuthority;
}

/** The authority that takes the place of the present one. Its keys are there. */
export interface NextAuthority {
  readonly root: Span & { readonly id: string };
  readonly intermediate: IntermediateFacts;
  /** Id of the certificate of its root that the present root signed. */
  readonly cross: string;
}

export type IntermediateFacts =
  | (Span & { readonly id: string; readonly why?: never })
  /** It cannot sign. */
  | { readonly why: string; readonly id?: never };

export type LeafFacts = Unread | Missing | Typed | Empty | FilledLeaf;

export interface FilledLeaf {
  readonly kind: 'filled';
  /** Ids of what `ca.crt` holds; undefined: it is missing or cannot be parsed. */
  readonly trusts?: readonly string[];
  /** Undefined: `tls.crt` is missing or cannot be parsed. */
  readonly certificate?: Span & {
    readonly id: string;
    /** The root of the authority, or the next one, signed one of the chain; undefined: that root is not known. */
    readonly isOfRoot?: boolean;
    /** Id of the intermediate behind it, if that signed it, and nothing but a cross certificate follows. */
    readonly issuer?: string;
    /** Id of that cross certificate. */
    readonly cross?: string;
    /** Names and usages. */
    readonly shape: string;
  };
  /** `tls.key` fits. */
  readonly hasKey: boolean;
  /** Of `ca.crl`. `behind`: it lacks a revoked intermediate. Undefined: this leaf has none. */
  readonly list?: 'unreadable' | 'behind' | 'current';
  /** Its SHA-256. */
  readonly listId?: string;
}

export interface Facts<Authority = AuthorityFacts, Leaf = LeafFacts> {
  readonly peers: Authority;
  readonly clients: Authority;
  readonly peer: Leaf;
  readonly server: Leaf;
  readonly client: Leaf;
}
