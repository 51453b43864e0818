import type { Place } from '../faults/place.ts';

/** A kind of store with the real server, or the stub, that stands for it. */
export interface StoreKind<P extends KindPlace> {
  readonly name: string;
  start(): Promise<StoreServer<P>>;
}

export interface StoreServer<P extends KindPlace> extends AsyncDisposable {
  /** A new and empty store on it. */
  make(): Promise<P>;
  /** The URL that a proxy can stand before, and `--store` by way of one; not where nothing goes over a network. */
  readonly network?: {
    endpointOf(place: P): string;
    through(place: P, endpoint: string): string;
  };
}

export type KindPlace = Place & AsyncDisposable;
