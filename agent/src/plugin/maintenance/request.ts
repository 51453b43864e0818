import { isStatus } from '../../kube/api-error.ts';
import type { MaintenanceKind } from '../../protocol/record.ts';
import { patch, patchCommand } from '../change.ts';
import { Exit, PluginError } from '../exit.ts';
import { follow } from '../follow.ts';
import type { ClusterObject } from '../objects.ts';
import type { Session } from '../session.ts';
import { isCurrent, oldness } from '../status/currency.ts';
import { readLease } from '../status/read.ts';
import type { Terminal } from '../terminal.ts';
import { isFuture, plain } from '../text.ts';
import { isUnknown, newest, outcomeOf, timeOf } from './outcome.ts';

interface Asking {
  readonly session: Session;
  readonly terminal: Terminal;
  readonly flags: Readonly<Record<string, unknown>>;
  readonly cluster: ClusterObject;
  readonly kind: MaintenanceKind;
  /** Of the member that is meant. Undefined: all. */
  readonly ordinal?: number | undefined;
}

/** Asks the reconciler for something once, by spec.maintenance, and follows it until it is over. */
export async function request({ session, terminal, flags, cluster, kind, ordinal }: Asking): Promise<Exit> {
  const { name } = cluster.metadata;
  const at = timeFor(session, cluster, kind);
  // A merge patch keeps what it does not name: null removes the member of an older request.
  const body = { spec: { maintenance: { [kind]: { at, ordinal: ordinal ?? null } } } };
  const target = { session, terminal, dryRun: flags.dryRun === true };
  const patched = await patch<ClusterObject>(target, 'etcdclusters', name, body);
  if (!patched) return Exit.done;
  // The API server drops the fields that its schemas do not know.
  if (patched.spec.maintenance?.[kind] === undefined)
    throw new PluginError(
      Exit.refused,
      `the CustomResourceDefinitions are older than this kubectl-etcd, and do not know spec.maintenance.${kind}; apply those of this release (crds.k8s.yaml), then update the reconciler`,
    );
  if (!isCurrent(cluster.status ?? {}, session.now, await readLease(session, cluster)))
    terminal.note(plain(oldness(cluster.status ?? {}, session.now)));
  if (flags.wait === false) {
    terminal.print(`${name}: it is requested; ${session.commands.etcd(`status ${name}`)} shows what comes of it`);
    return Exit.done;
  }
  const { generation = Infinity } = patched.metadata;
  const ended = await followed({ session, terminal, name, kind, at, generation });
  if (!ended) {
    terminal.note(`the request stays; until it begins, this takes it back: ${withdrawal(session, name, kind)}`);
    return Exit.interrupted;
  }
  const { phase, message } = outcomeOf(ended, kind, at);
  terminal.print(plain(`${name}: ${phase}: ${message}`));
  return phase === 'Completed' ? Exit.done : Exit.bad;
}

/** The time of a new request: it must be newer than that of any other, by the clock of whoever wrote that. */
function timeFor(session: Session, cluster: ClusterObject, kind: MaintenanceKind): string {
  const { now } = session;
  const { at: last, phase } = newest(cluster, kind) ?? {};
  if (isFuture(last, now)) {
    const { name } = cluster.metadata;
    const remedy =
      phase === 'Waiting'
        ? `take it back first: ${withdrawal(session, name, kind)}`
        : 'a clock was wrong, and until then the reconciler carries out no other';
    throw new PluginError(Exit.refused, `${name} has a request of ${last}, which is in the future; ${remedy}`);
  }
  return new Date(Math.max(now, timeOf(last) + 1)).toISOString();
}

const withdrawal = (session: Session, name: string, kind: MaintenanceKind): string =>
  patchCommand(session, 'etcdclusters', name, { spec: { maintenance: { [kind]: null } } });

function tooOld({ status }: ClusterObject, takenBack: string): PluginError {
  const { version } = status?.reconciler ?? {};
  return new PluginError(
    Exit.bad,
    `the reconciler (${version === undefined ? 'its version is not known' : `version ${version}`}) does not know this request; update it, and ask again. The request stays; this takes it back: ${takenBack}`,
  );
}

interface Following extends Pick<Asking, 'session' | 'terminal' | 'kind'> {
  readonly name: string;
  readonly at: string;
  /** That of the spec with the request. */
  readonly generation: number;
}

/** Looks, one a second, after which a reconciler that does not know the request is not about to be replaced. */
const patience = 5;

async function followed({
  session,
  terminal,
  name,
  kind,
  at,
  generation,
}: Following): Promise<ClusterObject | undefined> {
  const path = session.paths.of('etcdclusters', name);
  let looks = 0;
  const progress = (object: ClusterObject) => {
    looks = isUnknown(object, kind, at, generation) ? looks + 1 : 0;
    if (looks > patience) throw tooOld(object, withdrawal(session, name, kind));
    const { phase, message } = outcomeOf(object, kind, at);
    return { phase, reason: message };
  };
  try {
    return await follow<ClusterObject>({ session, terminal, path, progress });
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
    throw new PluginError(Exit.notFound, `the EtcdCluster ${name} is gone, and the request with it`);
  }
}
