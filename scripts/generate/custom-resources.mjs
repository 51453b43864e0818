// Writes docs/reference/custom-resources.md from the definitions in scripts/crds/. With --check it writes nothing, and fails if the
// page is out of date.
import { common, conditions } from '../crds/conditions.mjs';
import { isApplied } from '../crds/crd.mjs';
import { resources } from '../crds/files.mjs';
import { kubernetesName } from '../crds/kubernetes.mjs';
import { backupContainer, images, metadata, placement, podAnnotations, podFields } from '../crds/pods.mjs';
import { jobFields } from '../crds/schedule.mjs';
import { files, jobIdentity, secretFiles, store } from '../crds/store.mjs';
import { generated } from '../lib/generated.mjs';

const fieldsOf = (schema) => JSON.stringify(schema.properties);
const fromSecret = secretFiles('Files from a Secret.');
const fromEither = files('Files from a Secret or a ConfigMap.');
const aStore = store('A place for snapshots. Exactly one of the fields below the first level is given.');
const condition = conditions('').items;

/** The fields of the spec or of the status of a kind. */
const fieldsOfKind = (kind, half) =>
  resources.find(({ spec }) => spec.names.kind === kind).spec.versions[0].schema.openAPIV3Schema.properties[half]
    .properties;
const cluster = fieldsOfKind('EtcdCluster', 'spec');
const clusterStatus = fieldsOfKind('EtcdCluster', 'status');
const ownFields = ['cluster', 'etcd', 'controlPlane', 'monitoring'];
const ofSchedules = Object.fromEntries(
  Object.entries(fieldsOfKind('EtcdBackupSchedule', 'spec')).filter(([name]) => !ownFields.includes(name)),
);
const aSchedule = cluster.backup.properties.schedules.items;
const aScheduledStore = aSchedule.properties.stores.items.properties;

/** Parts that many fields have in common. Each has one section, to which the fields link. */
const shared = [
  { title: 'Files', schema: fromEither, matches: [fromSecret, fromEither].map(fieldsOf) },
  ...Object.entries({
    Condition: condition,
    'CPU and memory': { ...cluster.resources, description: 'CPU and memory of a container.' },
    Peers: { ...cluster.networkAccess.properties.peers.items, description: 'Clients that may connect.' },
    Addresses: { ...cluster.egress.properties.dns.items, description: 'What the pods may connect to.' },
    Encryption: aSchedule.properties.encryption,
    Retention: aScheduledStore.retention,
    Toleration: cluster.tolerations.items,
    'Times of a probe': {
      ...cluster.containers.properties.etcd.properties.startupProbe,
      description: 'What is missing has its default.',
    },
    Step: { ...clusterStatus.operation.properties.steps.items, description: 'A step of an operation.' },
    'Result of a request': {
      ...clusterStatus.maintenance.properties.defragment.properties.last,
      description: 'What came of a request of spec.maintenance.',
    },
  }).map(([title, schema]) => ({ title, schema, matches: [fieldsOf(schema)] })),
  ...Object.entries(aStore.properties).map(([name, schema]) => ({
    title: `Store: ${name}`,
    schema,
    matches: [fieldsOf(schema)],
  })),
];

/** Fields that several objects have among others. Each group has one section, and one row in the table of each object. */
const groups = [
  { title: 'Fields of containers', properties: backupContainer.properties },
  {
    title: 'Fields of pods',
    properties: { ...images, ...placement, ...podFields, container: backupContainer, ...metadata, podAnnotations },
  },
  { title: 'Fields of Jobs', properties: { ...jobIdentity, ...jobFields } },
  { title: 'Fields of schedules', properties: ofSchedules, required: ['cron', 'stores'] },
  { title: 'Fields of certificates', properties: cluster.tls.properties },
  { title: 'Fields of monitoring', properties: cluster.monitoring.properties },
  { title: 'Fields of a source', properties: cluster.origin.properties.source.properties },
];

const anchor = (title) =>
  title
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
const sharedWith = (schema) => shared.find(({ matches }) => matches.includes(fieldsOf(schema)));

const content = `# Custom resources

<!-- Written by \`npm run generate\` from scripts/crds/. -->

Every field of the custom resources \`cdk8s-etcd.dev/v1alpha1\`. \`[]\` after a name means a list. \`kubectl explain
etcdcluster.spec\` shows the same. EtcdBackupSchedule and EtcdReconciler are not resources of the API server: only \`render\` reads
them, and \`kubectl apply\` refuses them. [Render manifests from YAML](../clusters/render-from-yaml.md) has an example. The API server also checks rules that span several fields, and so do the constructs and
\`render\`, with the same messages. The npm package and the repository have a JSON Schema of each kind in \`schemas/\`, for editors: write
\`# yaml-language-server: $schema=node_modules/cdk8s-etcd/schemas/etcdcluster.json\` into the first line of a file.

${resources.map(resource).join('\n')}
## Common parts

${shared.map(({ title, schema }) => `### ${title}\n\n${sentence(schema.description)}\n\n${table(rowsBelow(schema, ''))}`).join('\n')}
## Groups of fields

Several objects have these fields. Their tables name the group in one row.

${groups.map((group) => `### ${group.title}\n\n${table(rowsBelow(group, '', group))}`).join('\n')}`;

generated('docs/reference/custom-resources.md', () => content);

function resource(definition) {
  const { names, versions } = definition.spec;
  const { description, properties } = versions[0].schema.openAPIV3Schema;
  const spec = `### ${names.kind} spec\n\n${table(rowsBelow(properties.spec, ''))}`;
  if (!isApplied(definition)) return `## ${names.kind}\n\n${sentence(description)}\n\n${spec}`;
  const short = `\`kubectl get ${names.shortNames[0]}\``;
  const status = Object.entries(properties.status.properties);
  const usual = status.filter(([name]) => name in common || name === 'conditions');
  return `## ${names.kind}

${sentence(description)} Short name: ${short}.

${spec}
### ${names.kind} status

${table(rowsBelow({ ...properties.status, properties: Object.fromEntries([...new Map([...usual, ...status])]) }, ''))}`;
}

/** Returns a row for each field below an object, with the path from there, and one for the fields of each group. */
function rowsBelow({ properties, required = [] }, prefix, own) {
  const rest = new Map(Object.entries(properties));
  const ofGroups = groups.slice(0, own && groups.indexOf(own)).flatMap((group) => {
    const names = [...rest].filter(([name, schema]) => isField(group, name, schema)).map(([name]) => name);
    if (names.length < 3) return [];
    for (const name of names) rest.delete(name);
    return [{ paths: names.map((name) => `${prefix}${name}`), group }];
  });
  return [...[...rest].flatMap(([name, schema]) => rowsOf(name, schema, prefix, required)), ...ofGroups];
}

function isField(group, name, schema) {
  const there = group.properties[name];
  return there !== undefined && JSON.stringify(there) === JSON.stringify(schema);
}

function rowsOf(name, schema, prefix, required) {
  const path = `${prefix}${name}${schema.type === 'array' ? '[]' : ''}`;
  const inner = schema.type === 'array' ? schema.items : schema;
  const row = { path, schema, required: required.includes(name) };
  const own = kubernetesName(inner);
  if (own) return [{ ...row, type: `[${own}](https://kubernetes.io/docs/reference/kubernetes-api/)` }];
  const part = inner.properties && sharedWith(inner);
  if (part) return [{ ...row, type: `[${part.title.toLowerCase()}](#${anchor(part.title)})` }];
  return [{ ...row, type: typeOf(inner) }, ...(inner.properties ? rowsBelow(inner, `${path}.`) : [])];
}

function typeOf({ type, format, 'x-kubernetes-int-or-string': either }) {
  if (either) return 'integer or string';
  return format === 'date-time' ? 'time' : type;
}

function table(rows) {
  const lines = rows.map(({ path, type, schema, required, paths, group }) => {
    if (group)
      return `| ${paths.map((each) => `\`${each}\``).join(', ')} | | [${group.title}](#${anchor(group.title)}) |`;
    const inner = schema.type === 'array' ? schema.items : schema;
    const facts = [
      sentence(schema.description),
      inner.enum && `One of ${inner.enum.map((value) => `\`${value}\``).join(', ')}.`,
      schema.default !== undefined &&
        !/Default:/.test(schema.description) &&
        `Default: \`${JSON.stringify(schema.default)}\`.`,
      required && '**Required.**',
    ];
    return `| \`${path}\` | ${type} | ${facts.filter(Boolean).join(' ')} |`;
  });
  return `| field | type | meaning |\n| --- | --- | --- |\n${lines.join('\n')}\n`;
}

function sentence(text) {
  const escaped = text.replace(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;');
  // Names between braces are templates, which belong into code.
  return escaped.replace(/\{\{ [.\w]+ \}\}/g, '`$&`');
}
