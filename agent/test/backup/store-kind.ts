import type { Place } from '../faults/place.ts';

/** A kind of store, with the real server or the stub that represents it. */
export interface StoreKind<P extends KindPlace> {
  /** With every version of etcd it would take hours. */
  readonly isSlow?: true;
  readonly name: string;
  start(): Promise<StoreServer<P>>;
}

export interface StoreServer<P extends KindPlace> extends AsyncDisposable {
  /** A new and empty store on it. */
  make(): Promise<P>;
  /** The URL for a proxy to forward to, and `--store` for a store behind a proxy. Undefined without a network. */
  readonly network?: {
    endpointOf(place: P): string;
    through(place: P, endpoint: string): string;
  };
}

export type KindPlace = Place & AsyncDisposable;
