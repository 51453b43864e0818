/** What the reconciler does once for each value of an annotation of the EtcdCluster. */
export type RequestKind = 'move-leader' | 'defrag';

/** In the order in which they are obeyed. */
export const requestKinds: readonly RequestKind[] = ['move-leader', 'defrag'];

export const requestAnnotation = (kind: RequestKind): string => `cdk8s-etcd.dev/${kind}`;

/** Longest part of the value that counts, in characters: the status repeats it. */
const longest = 128;

/** The value: a text that no earlier request has, such as the time, and the pod of the member that is meant. */
export const requestValue = (time: string, pod?: string): string => (pod === undefined ? time : `${time} ${pod}`);

export const podOfRequest = (value: string): string | undefined => value.trim().split(/\s+/)[1];

/** The requests that the annotations contain, by kind. */
export function requestsIn(annotations: Readonly<Record<string, string>> = {}): Requests {
  const found = requestKinds.map((kind) => [kind, annotations[requestAnnotation(kind)]?.slice(0, longest)] as const);
  return Object.fromEntries(found.filter(([, value]) => value));
}

export type Requests = Readonly<Partial<Record<RequestKind, string>>>;

/** State of a request, in the status of the EtcdCluster. */
export interface ReportedRequest {
  readonly kind: RequestKind;
  /** The value of the annotation. */
  readonly request: string;
  /** Waiting: not now, `message` says why. Completed and Failed: it is over, and is never obeyed again. */
  readonly phase: 'Waiting' | 'Running' | 'Completed' | 'Failed';
  readonly message: string;
  /** Of defrag: the members that are done, with the sizes of their databases in bytes. */
  readonly members?: readonly DefragmentedMember[];
}

export interface DefragmentedMember {
  readonly pod: string;
  readonly before: number;
  readonly after: number;
}

export const isRequestOver = ({ phase }: Pick<ReportedRequest, 'phase'>): boolean =>
  phase === 'Completed' || phase === 'Failed';
