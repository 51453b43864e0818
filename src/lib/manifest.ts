/** A Kubernetes object as plain data. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec?: object;
  readonly data?: object;
}

interface Metadata {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Objects in the order of apply. The key of each is the id of its construct. */
export type Manifests = ReadonlyMap<string, Manifest>;
