import type { LeaseObject } from '../../kube/objects.ts';
import { everywhere } from '../../kube/paths.ts';
import { table } from '../../lib/terminal/table.ts';
import { Exit } from '../exit.ts';
import type { ClusterObject } from '../objects.ts';
import type { Session } from '../session.ts';
import { isCurrent } from '../status/currency.ts';
import { leaseNameOf, missingLease, readLease } from '../status/read.ts';
import { plain, shortAge } from '../text.ts';
import { option, outputOption, type Verb } from '../verb.ts';

export const list: Verb = {
  name: 'list',
  about: 'list the clusters of the namespace',
  options: [option('-A, --all-namespaces', 'of all namespaces'), outputOption],
  async run({ flags, terminal, connect }) {
    const session = await connect();
    const isEverywhere = flags.allNamespaces === true;
    const path = isEverywhere ? everywhere('etcdclusters') : session.paths.of('etcdclusters');
    const { items } = await session.client.list<ClusterObject>(path);
    const leaseOf = await readLeases(session, items, isEverywhere);
    const unread = [...session.notShown, ...session.notRead];
    if (unread.length > 0)
      terminal.note(`cannot read ${unread.join(', ')}: only the age of a status says if it is OLD`);
    const isRecent = (cluster: ClusterObject): boolean =>
      isCurrent(cluster.status ?? {}, session.now, leaseOf(cluster));
    if (flags.output === 'json') {
      const summaries = items.map((item) => summary(item, isRecent(item)));
      terminal.print(JSON.stringify(summaries, undefined, 2));
      return Exit.done;
    }
    if (items.length === 0) {
      terminal.note(
        isEverywhere
          ? 'there is no EtcdCluster'
          : `there is no EtcdCluster in the namespace ${session.namespace}; -A lists all namespaces`,
      );
      return Exit.done;
    }
    const shown = isEverywhere ? ['NAMESPACE', 'NAME'] : ['NAME'];
    terminal.print(
      table(
        [...shown, 'READY', 'VERSION', 'PHASE', 'REASON', 'BACKUP', 'OBSERVED'],
        items.map((item) =>
          row(item, session.now, isRecent(item))
            .slice(isEverywhere ? 0 : 1)
            .map(plain),
        ),
      ),
    );
    return Exit.done;
  },
};

/** Those that the reconcilers of these clusters renew: of one name by one request, also in all namespaces. */
async function readLeases(
  session: Session,
  clusters: readonly ClusterObject[],
  isEverywhere: boolean,
): Promise<(cluster: ClusterObject) => LeaseObject | undefined> {
  const oneOfEach = new Map(clusters.map((cluster) => [leaseNameOf(cluster), cluster]));
  const readEverywhere = async (name: string) => {
    const query = { fieldSelector: `metadata.name=${name}` };
    const list = await session.attempt('leases', session.client.list<LeaseObject>(everywhere('leases'), query));
    return (cluster: ClusterObject) =>
      list?.items.find(({ metadata }) => metadata.namespace === cluster.metadata.namespace) ??
      (list && missingLease(cluster));
  };
  const readHere = async (cluster: ClusterObject) => {
    const lease = await readLease(session, cluster);
    return () => lease;
  };
  const found = new Map(
    await Promise.all(
      [...oneOfEach].map(
        async ([name, cluster]) => [name, await (isEverywhere ? readEverywhere(name) : readHere(cluster))] as const,
      ),
    ),
  );
  return (cluster) => found.get(leaseNameOf(cluster))?.(cluster);
}

function summary({ metadata, spec, status = {} }: ClusterObject, current: boolean) {
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    size: spec.size,
    readyVoters: status.readyVoters,
    version: status.version,
    phase: status.phase,
    reason: status.reason,
    message: status.message,
    lastBackupAt: status.lastBackup?.at,
    observedAt: status.observedAt,
    current,
  };
}

function row({ metadata, spec, status = {} }: ClusterObject, now: number, current: boolean): string[] {
  const observed = shortAge(status.observedAt, now);
  return [
    metadata.namespace ?? '',
    metadata.name,
    `${status.readyVoters ?? '?'}/${spec.size ?? '?'}`,
    status.version ?? '?',
    status.phase ?? '?',
    status.reason ?? '?',
    status.lastBackup ? shortAge(status.lastBackup.at, now) : status.observedAt ? 'none' : '?',
    current ? observed : `${observed} OLD`,
  ];
}
