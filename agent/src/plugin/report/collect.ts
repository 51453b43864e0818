import { recordName } from '../../../../src/etcd/record-name.ts';
import { withDefaultNames } from '../../../../src/tls/default-names.ts';
import type { KubeObject, PodObject, Secret } from '../../kube/objects.ts';
import { messageOf } from '../../lib/errors.ts';
import { Commands } from '../commands.ts';
import type { ClusterObject } from '../objects.ts';
import { containersOf, type LogSource, logOf } from '../pod-logs.ts';
import type { Session } from '../session.ts';
import { isAbout, isLabelled } from '../status/ours.ts';
import { leaseNameOf, readFacts } from '../status/read.ts';
import { showStatus } from '../status/show.ts';
import { statusView } from '../status/view.ts';
import { Terminal } from '../terminal.ts';
import { redact, redactText } from './redact.ts';
import { valuesOf } from './secret-values.ts';

const resources = [
  ...(['etcdclusters', 'etcdbackups', 'etcdrestores', 'etcdusers', 'statefulsets', 'deployments', 'pods'] as const),
  ...(['persistentvolumeclaims', 'cronjobs', 'jobs', 'leases', 'events'] as const),
];

/** Everything of a cluster that helps to understand it, without secrets, by the name of the file. */
export async function collectReport(
  session: Session,
  terminal: Terminal,
  cluster: ClusterObject,
): Promise<ReadonlyMap<string, string>> {
  const { client, paths } = session;
  const { name } = cluster.metadata;
  const facts = await readFacts(session, cluster);
  const all = new Map<string, readonly KubeObject[]>();
  for (const resource of resources) {
    const found = await session.attempt(resource, client.list<KubeObject>(paths.of(resource)));
    if (found) all.set(resource, found.items);
  }
  const lists = oursOf(all, cluster);
  const record = await session.attempt(
    'the record',
    client.get<KubeObject & { data?: Record<string, string> }>(paths.of('configmaps', recordName(name))),
  );
  const { tls } = cluster.spec;
  const named = tls && withDefaultNames(name, tls);
  const secrets = await readSecrets(session, [cluster, named, ...[...lists.values()].flat()]);
  const known = valuesOf(secrets, [name, session.namespace]);
  const logs = await readLogs(session, terminal, containersOf((lists.get('pods') ?? []) as PodObject[]));
  terminal.signal.throwIfAborted();
  // The names of contexts are of no use to who gets the report.
  const reading = { now: session.now, commands: new Commands(session.namespace, []) };
  const { notShown, notRead } = session;
  const view = statusView(facts, { ...reading, notShown, notRead });
  // A file has no colors.
  const file = new Terminal({ ...terminal.streams, env: { NO_COLOR: '1' } });
  const pretty = (value: unknown): string => `${JSON.stringify(redact(value, known), undefined, 2)}\n`;
  const files: [string, string][] = [
    ['status.txt', `${redactText(showStatus(view, reading, file), known)}\n`],
    ['status.json', pretty(view)],
    ['record.json', pretty(parsed(record?.data?.['record.json']))],
    ['secrets.json', `${JSON.stringify(namesOf(secrets), undefined, 2)}\n`],
    ['not-shown.txt', [...session.notShown, ...session.notRead].map((each) => `${redactText(each, known)}\n`).join('')],
    ...[...lists].map(([resource, items]): [string, string] => [`resources/${resource}.json`, pretty(items)]),
    ...logs.map(([file, text]): [string, string] => [`logs/${file}`, redactText(text, known)]),
  ];
  return new Map(files);
}

type Listed = KubeObject & {
  readonly spec?: { readonly clusterName?: string };
  readonly involvedObject?: { readonly name?: string; readonly uid?: string };
};

/** What bears the name of the cluster or of the reconciler itself, by its resource. */
const named = (resource: string, name: string, cluster: ClusterObject): boolean =>
  ['etcdclusters', 'statefulsets'].includes(resource)
    ? name === cluster.metadata.name
    : resource === 'leases' && name === leaseNameOf(cluster);

/** Objects of the cluster or of the reconciler, what these own, and the Events about them. Another may have such a name. */
function oursOf(
  all: ReadonlyMap<string, readonly Listed[]>,
  cluster: ClusterObject,
): ReadonlyMap<string, readonly KubeObject[]> {
  const { name, uid } = cluster.metadata;
  const ours = new Set([uid]);
  for (const [resource, items] of all)
    for (const each of items)
      if (isLabelled(each, name) || each.spec?.clusterName === name || named(resource, each.metadata.name, cluster))
        ours.add(each.metadata.uid);
  const objects = [...all.values()].flat();
  for (let before = 0; before < ours.size; ) {
    before = ours.size;
    for (const { metadata } of objects)
      if (metadata.ownerReferences?.some((owner) => ours.has(owner.uid))) ours.add(metadata.uid);
  }
  const isOurs = ({ metadata, involvedObject }: Listed): boolean =>
    involvedObject
      ? ours.has(involvedObject.uid ?? '') ||
        isAbout(cluster, involvedObject.name ?? '') ||
        /^etcd-reconciler(-|$)/.test(involvedObject.name ?? '')
      : ours.has(metadata.uid);
  return new Map([...all].map(([resource, items]) => [resource, items.filter(isOurs)]));
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return 'the record is not JSON';
  }
}

/** The Secrets that these objects name. Their values are read only to find them where they do not belong. */
async function readSecrets(session: Session, objects: readonly (object | undefined)[]): Promise<Secret[]> {
  const names = new Set(objects.flatMap((each) => secretNames(each)));
  const read = [...names].map((name) =>
    session.attempt('secrets', session.client.get<Secret>(session.paths.of('secrets', name))),
  );
  return (await Promise.all(read)).filter((each) => each !== undefined);
}

/**
 * Values of fields such as `secretName`, `clientSecret` and `peerAuthority`, and names in fields such as `secretKeyRef`,
 * `secretRef`, `imagePullSecrets` and the `secret` of a projection.
 */
function secretNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([field, inner]) => {
    if (typeof inner === 'string') return /(secretName|Secret|Authority)$/.test(field) ? [inner] : [];
    const references = /secret/i.test(field) ? [inner].flat() : [];
    const named = references.flatMap((each) => (typeof each?.name === 'string' ? [each.name as string] : []));
    return [...named, ...secretNames(inner)];
  });
}

const namesOf = (secrets: readonly Secret[]) =>
  secrets.map(({ metadata, type, data }) => ({ name: metadata.name, type, keys: Object.keys(data ?? {}) }));

/** The newest lines of each log, as a file for each container. */
async function readLogs(
  session: Session,
  terminal: Terminal,
  sources: readonly LogSource[],
): Promise<[string, string][]> {
  return Promise.all(
    sources.map(async (source): Promise<[string, string]> => {
      const file = `${source.pod}-${source.container}.log`;
      const lines: string[] = [];
      try {
        for await (const { time, text } of logOf(session, source, { tailLines: 2000 }, terminal.signal))
          lines.push(`${time} ${text}\n`);
        return [file, lines.join('')];
      } catch (error) {
        session.missed(`log of ${source.pod} ${source.container}`, error);
        return [file, `${lines.join('')}cannot be read: ${messageOf(error)}\n`];
      }
    }),
  );
}
