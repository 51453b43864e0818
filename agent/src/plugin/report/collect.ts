import type { KubeObject, Secret } from '../../kube/objects.ts';
import { messageOf } from '../../lib/errors.ts';
import type { ClusterObject } from '../objects.ts';
import { logOf, sourcesOf } from '../pod-logs.ts';
import type { Session } from '../session.ts';
import { readFacts } from '../status/read.ts';
import { showStatus } from '../status/show.ts';
import { statusView } from '../status/view.ts';
import type { Terminal } from '../terminal.ts';
import { redact, redactText } from './redact.ts';

const resources = [
  ...(['etcdclusters', 'etcdbackups', 'etcdrestores', 'etcdusers', 'statefulsets', 'deployments', 'pods'] as const),
  ...(['persistentvolumeclaims', 'jobs', 'leases', 'events'] as const),
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
  const lists = new Map<string, readonly KubeObject[]>();
  for (const resource of resources) {
    const found = await session.optional(resource, client.list<KubeObject>(paths.of(resource)));
    if (found)
      lists.set(
        resource,
        found.items.filter((each) => isOurs(each, name)),
      );
  }
  const record = await session.optional(
    'the record',
    client.get<KubeObject & { data?: Record<string, string> }>(paths.of('configmaps', `${name}-record`)),
  );
  const secrets = await readSecrets(session, [cluster, ...[...lists.values()].flat()]);
  const known = valuesOf(secrets, name);
  const logs = await readLogs(session, terminal, name);
  const view = statusView(facts, session.now, session.notShown);
  const pretty = (value: unknown): string => `${JSON.stringify(redact(value, known), undefined, 2)}\n`;
  const files: [string, string][] = [
    ['status.txt', `${redactText(showStatus(view, session.now, terminal), known)}\n`],
    ['status.json', pretty(view)],
    ['record.json', pretty(parsed(record?.data?.['record.json']))],
    ['secrets.json', `${JSON.stringify(namesOf(secrets), undefined, 2)}\n`],
    ['not-shown.txt', session.notShown.map((each) => `${each}\n`).join('')],
    ...[...lists].map(([resource, items]): [string, string] => [`resources/${resource}.json`, pretty(items)]),
    ...logs.map(([file, text]): [string, string] => [`logs/${file}`, redactText(text, known)]),
  ];
  return new Map(files);
}

/** Objects of the cluster or of the reconciler. An Event belongs to the object that it is about. */
function isOurs(
  object: KubeObject & { readonly involvedObject?: { readonly name?: string } },
  cluster: string,
): boolean {
  const { metadata, involvedObject } = object;
  const spec = (object as { readonly spec?: { readonly clusterName?: string } }).spec;
  const name = involvedObject?.name ?? metadata.name;
  const labels = metadata.labels ?? {};
  return (
    [cluster, 'etcd-reconciler'].some(
      (each) => name === each || name.startsWith(`${each}-`) || name.startsWith(`data-${each}-`),
    ) ||
    spec?.clusterName === cluster ||
    labels['app.kubernetes.io/part-of'] === cluster
  );
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return 'the record is not JSON';
  }
}

/** The Secrets that these objects name. Their values are read only to find them where they do not belong. */
async function readSecrets(session: Session, objects: readonly KubeObject[]): Promise<Secret[]> {
  const names = new Set(objects.flatMap((each) => secretNames(each)));
  const read = [...names].map((name) =>
    session.optional('secrets', session.client.get<Secret>(session.paths.of('secrets', name))),
  );
  return (await Promise.all(read)).filter((each) => each !== undefined);
}

/** Values of fields such as `secretName`, `clientSecret` and `peerAuthority`. */
const secretNames = (value: unknown): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([field, inner]) =>
        typeof inner === 'string' ? (/(secretName|Secret|Authority)$/.test(field) ? [inner] : []) : secretNames(inner),
      );

const namesOf = (secrets: readonly Secret[]) =>
  secrets.map(({ metadata, type, data }) => ({ name: metadata.name, type, keys: Object.keys(data ?? {}) }));

/** A shorter value is found in too many words. */
const shortest = 8;

/** Every value in base64 and plain, as a whole and line by line, the longest first. */
function valuesOf(secrets: readonly Secret[], cluster: string): string[] {
  const encoded = secrets.flatMap(({ data }) => Object.values(data ?? {}));
  const plain = encoded.map((value) => Buffer.from(value, 'base64').toString());
  const lines = plain.flatMap((value) => value.split('\n').map((line) => line.trim()));
  return [...new Set([...encoded, ...plain, ...plain.map((value) => value.trim()), ...lines])]
    .filter((value) => value.length >= shortest && value !== cluster)
    .sort((a, b) => b.length - a.length);
}

/** The newest lines of each log, as a file for each container. */
async function readLogs(session: Session, terminal: Terminal, cluster: string): Promise<[string, string][]> {
  const sources = (await session.optional('pods', sourcesOf(session, cluster))) ?? [];
  return Promise.all(
    sources.map(async (source): Promise<[string, string]> => {
      const file = `${source.pod}-${source.container}.log`;
      try {
        const lines: string[] = [];
        for await (const { time, text } of logOf(session, source, { tailLines: 2000 }, terminal.signal))
          lines.push(`${time} ${text}\n`);
        return [file, lines.join('')];
      } catch (error) {
        return [file, `cannot be read: ${messageOf(error)}\n`];
      }
    }),
  );
}
