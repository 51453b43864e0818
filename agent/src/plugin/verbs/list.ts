import { everywhere } from '../../kube/paths.ts';
import { table } from '../../lib/terminal/table.ts';
import { Exit } from '../exit.ts';
import type { ClusterObject } from '../objects.ts';
import { isCurrent } from '../status/currency.ts';
import { plain, shortAge } from '../text.ts';
import { option, outputOption, type Verb } from '../verb.ts';

export const list: Verb = {
  name: 'list',
  about: 'list the clusters of the namespace',
  options: [option('-A, --all-namespaces', 'of all namespaces'), outputOption],
  async run({ flags, terminal, connect }) {
    const session = await connect();
    const path = flags.allNamespaces ? everywhere('etcdclusters') : session.paths.of('etcdclusters');
    const { items } = await session.client.list<ClusterObject>(path);
    if (flags.output === 'json') {
      terminal.print(
        JSON.stringify(
          items.map((item) => summary(item, session.now)),
          undefined,
          2,
        ),
      );
      return Exit.done;
    }
    if (items.length === 0) {
      terminal.note(
        flags.allNamespaces
          ? 'there is no EtcdCluster'
          : `there is no EtcdCluster in the namespace ${session.namespace}; -A lists all namespaces`,
      );
      return Exit.done;
    }
    const shown = flags.allNamespaces ? ['NAMESPACE', 'NAME'] : ['NAME'];
    terminal.print(
      table(
        [...shown, 'READY', 'VERSION', 'PHASE', 'REASON', 'BACKUP', 'OBSERVED'],
        items.map((item) =>
          row(item, session.now)
            .slice(flags.allNamespaces ? 0 : 1)
            .map(plain),
        ),
      ),
    );
    return Exit.done;
  },
};

function summary({ metadata, spec, status = {} }: ClusterObject, now: number) {
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
    current: isCurrent(status, now),
  };
}

function row({ metadata, spec, status = {} }: ClusterObject, now: number): string[] {
  const observed = shortAge(status.observedAt, now);
  return [
    metadata.namespace ?? '',
    metadata.name,
    `${status.readyVoters ?? '?'}/${spec.size ?? '?'}`,
    status.version ?? '?',
    status.phase ?? '?',
    status.reason ?? '?',
    status.lastBackup ? shortAge(status.lastBackup.at, now) : status.observedAt ? 'none' : '?',
    isCurrent(status, now) ? observed : `${observed} OLD`,
  ];
}
