import { type RequestKind, requestAnnotation, requestValue } from '../protocol/requests.ts';
import { patch } from './change.ts';
import { Exit } from './exit.ts';
import { follow } from './follow.ts';
import type { ClusterObject } from './objects.ts';
import type { Session } from './session.ts';
import { isCurrent, oldness } from './status/currency.ts';
import { readLease } from './status/read.ts';
import type { Terminal } from './terminal.ts';
import { plain } from './text.ts';

interface Asking {
  readonly session: Session;
  readonly terminal: Terminal;
  readonly flags: Readonly<Record<string, unknown>>;
  readonly cluster: ClusterObject;
  readonly kind: RequestKind;
  /** Pod of the member that is meant. */
  readonly pod?: string | undefined;
}

/** Asks the reconciler for something by an annotation, and follows it until it is over. */
export async function request({ session, terminal, flags, cluster, kind, pod }: Asking): Promise<Exit> {
  const { name } = cluster.metadata;
  const value = requestValue(new Date(session.now).toISOString(), pod);
  const body = { metadata: { annotations: { [requestAnnotation(kind)]: value } } };
  if (!(await patch({ session, terminal, dryRun: flags.dryRun === true }, 'etcdclusters', name, body)))
    return Exit.done;
  if (flags.wait === false) {
    terminal.print(`${name}: ${kind} is requested; kubectl etcd status shows what comes of it`);
    return Exit.done;
  }
  if (!isCurrent(cluster.status ?? {}, session.now, await readLease(session)))
    terminal.note(plain(oldness(cluster.status ?? {}, session.now)));
  const ours = ({ status }: ClusterObject) =>
    status?.requests?.find((each) => each.kind === kind && each.request === value);
  const progress = (object: ClusterObject) => {
    const { phase, message } = ours(object) ?? { phase: 'Pending', message: 'the reconciler has not seen it yet' };
    return { phase, reason: message };
  };
  const path = session.paths.of('etcdclusters', name);
  const ended = await follow<ClusterObject>({ session, terminal, path, progress });
  const outcome = ended && ours(ended);
  if (!outcome) {
    terminal.note(
      `the request stays; kubectl annotate etcdcluster ${name} -n ${session.namespace} ${requestAnnotation(kind)}- takes it back`,
    );
    return Exit.interrupted;
  }
  terminal.print(plain(`${name}: ${outcome.phase}: ${outcome.message}`));
  return outcome.phase === 'Completed' ? Exit.done : Exit.bad;
}
