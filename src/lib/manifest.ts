export type Labels = Readonly<Record<string, string>>;

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
  readonly labels?: Labels;
  readonly annotations?: Labels;
}

/** Objects in the order of apply. The key of each is the id of its construct. */
export type Manifests = ReadonlyMap<string, Manifest>;
