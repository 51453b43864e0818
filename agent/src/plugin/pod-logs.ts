import type { ContainerStatus, PodObject } from '../kube/objects.ts';
import { patience, type Session } from './session.ts';
import { memberLabels } from './status/read.ts';

/** A container whose log is part of the time line. */
export interface LogSource {
  readonly pod: string;
  readonly container: string;
  /** That of the pod: another one may get the same name. */
  readonly uid: string;
  readonly status?: ContainerStatus | undefined;
}

export interface LogLine extends Pick<LogSource, 'pod' | 'container'> {
  readonly time: string;
  readonly text: string;
}

export const reconcilerLabels = 'app.kubernetes.io/name=etcd-reconciler';

/** Gate, agent and etcd of every member, and the reconciler. */
export async function sourcesOf(session: Session, cluster: string): Promise<LogSource[]> {
  const { client, paths } = session;
  const list = (labelSelector: string) => client.list<PodObject>(paths.of('pods'), { labelSelector });
  const found = await Promise.all([list(memberLabels(cluster)), list(reconcilerLabels)]);
  return containersOf(found.flatMap(({ items }) => items));
}

export const containersOf = (pods: readonly PodObject[]): LogSource[] =>
  pods.flatMap(({ metadata, spec, status }) =>
    [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ name }) => ({
      pod: metadata.name,
      container: name,
      uid: metadata.uid,
      status: [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find(
        (each) => each.name === name,
      ),
    })),
  );

export interface LogOptions {
  readonly sinceSeconds?: number;
  readonly sinceTime?: string;
  readonly tailLines?: number;
  readonly follow?: boolean;
  readonly previous?: boolean;
}

/** Yields the lines of one log with their times. */
export async function* logOf(
  session: Session,
  { pod, container }: LogSource,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const query = {
    container,
    timestamps: 'true',
    sinceSeconds: options.sinceSeconds,
    sinceTime: options.sinceTime,
    tailLines: options.tailLines,
    follow: options.follow ? 'true' : undefined,
    previous: options.previous ? 'true' : undefined,
  };
  // Only a log that is followed may be silent.
  const silence = options.follow ? undefined : patience;
  const path = `${session.paths.of('pods', pod)}/log`;
  for await (const line of session.client.lines(path, query, signal, silence)) {
    const [time = '', ...words] = line.split(' ');
    yield { pod, container, time, text: words.join(' ') };
  }
}

/** Zero: not a time. */
export function nanoseconds(time: string): bigint {
  const [, seconds, fraction = '', zone] = /^(.*:\d\d)(?:\.(\d{1,9}))?(.*)$/.exec(time) ?? [];
  const milliseconds = Date.parse(`${seconds}${zone}`);
  return Number.isNaN(milliseconds) ? 0n : BigInt(milliseconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}

/** Nanoseconds without trailing zeros cannot be compared as texts. */
export const byTime = (a: LogLine, b: LogLine): number => Date.parse(a.time) - Date.parse(b.time);
