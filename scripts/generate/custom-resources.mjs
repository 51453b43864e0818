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
const aStore = store('Exactly one of the fields of the first level is given.');
const condition = conditions('').items;

/** The fields of the spec or of the status of a kind. */
const fieldsOfKind = (kind, half) =>
  resources.find(({ spec }) => spec.names.kind === kind).spec.versions[0].schema.openAPIV3Schema.properties[half]
    .properties;
const cluster = fieldsOfKind('EtcdCluster', 'spec');
const clusterStatus = fieldsOfKind('EtcdCluster', 'status');
const reconciler = fieldsOfKind('EtcdReconciler', 'spec');
const backup = fieldsOfKind('EtcdBackup', 'spec');
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
    'CPU and memory': {
      ...cluster.resources,
      description: 'A request stands for a missing limit of memory, and a limit for a missing request.',
    },
    Access: { ...cluster.networkAccess, description: '' },
    Peers: { ...cluster.networkAccess.properties.peers.items, description: '' },
    Egress: { ...cluster.egress, description: '' },
    Addresses: { ...cluster.egress.properties.dns.items, description: '' },
    Scrape: reconciler.monitoring.properties.scrape,
    Encryption: aSchedule.properties.encryption,
    Retention: aScheduledStore.retention,
    Toleration: cluster.tolerations.items,
    'Times of a probe': {
      ...cluster.containers.properties.etcd.properties.startupProbe,
      description: 'What is missing has its default.',
    },
    Step: { ...clusterStatus.operation.properties.steps.items, description: '' },
    'TLS of endpoints': backup.tls,
    Request: { ...clusterStatus.maintenance.properties.defragment, description: '' },
    Store: aStore,
  }).map(([title, schema]) => ({ title, schema, matches: [fieldsOf(schema)] })),
  ...Object.entries(aStore.properties).map(([name, schema]) => ({
    title: `Store: ${name}`,
    schema,
    matches: [fieldsOf(schema)],
  })),
];

const alerts = cluster.monitoring.properties.alerts.properties;
const snapshot = clusterStatus.lastBackup.properties;

/** Fields that several objects have among others. Each group has one section, and one line in the list of each object. */
const groups = [
  { title: 'Peers', properties: cluster.networkAccess.properties.peers.items.properties },
  { title: 'Request', properties: clusterStatus.maintenance.properties.defragment.properties },
  { title: 'Store', properties: aStore.properties },
  { title: 'Store: filesystem', properties: aStore.properties.filesystem.properties },
  { title: 'Fields of containers', properties: backupContainer.properties },
  {
    title: 'Fields of pods',
    properties: { ...images, ...placement, ...podFields, container: backupContainer, ...metadata, podAnnotations },
  },
  { title: 'Fields of Jobs', properties: { ...jobIdentity, ...jobFields } },
  { title: 'Fields of schedules', properties: ofSchedules, required: ['cron', 'stores'] },
  { title: 'Fields of certificates', properties: cluster.tls.properties },
  { title: 'Fields of alerts', properties: pick(alerts, 'enabled', 'labels', 'runbookUrl') },
  { title: 'Fields of monitoring', properties: cluster.monitoring.properties },
  { title: 'Fields of a source', properties: cluster.origin.properties.source.properties },
  {
    title: 'Fields of restores',
    properties: pick(cluster.origin.properties, 'source', 'identitySecret', 'sha256', 'expectedRevision'),
    required: ['source'],
  },
  {
    title: 'Fields of Services',
    properties: pick(
      cluster.service.properties,
      ...['labels', 'annotations', 'loadBalancerClass', 'loadBalancerSourceRanges', 'externalTrafficPolicy'],
    ),
  },
  {
    title: 'Fields of operations',
    properties: pick(clusterStatus.operation.properties, 'type', 'target', 'startedAt', 'steps'),
    required: clusterStatus.operation.required,
  },
  { title: 'Fields of snapshots', properties: pick(snapshot, 'revision', 'sizeBytes', 'sha256', 'verified') },
  { title: 'Fields of a status', properties: pick(common, 'observedGeneration', 'reason', 'message') },
];

const anchor = (title) =>
  title
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
const sharedWith = (schema) => shared.find(({ matches }) => matches.includes(fieldsOf(schema)));

const content = `# Custom resources

<!-- Written by \`npm run generate\` from scripts/crds/. -->

Every field of the custom resources \`cdk8s-etcd.dev/v1alpha1\`, with its type. One without a type is a string, or an object
with the fields below it. \`[]\` after a name means a list. A link leads to fields that several objects have. \`kubectl explain
etcdcluster.spec\` shows the same. The API server also checks rules that span several fields, and so do the constructs and
\`render\`, with the same messages.

EtcdBackupSchedule and EtcdReconciler are not resources of the API server: only [\`render\`](../clusters/render-from-yaml.md) reads
them, and \`kubectl apply\` refuses them.

The npm package and the repository have a JSON Schema of each kind in \`schemas/\`, for editors: write
\`# yaml-language-server: $schema=node_modules/cdk8s-etcd/schemas/etcdcluster.json\` into the first line of a file.

${resources.map(resource).join('\n')}
## Common parts

${shared.map((part) => `### ${part.title}\n\n${introduction(part)}${list(part.schema, part.title)}`).join('\n')}
## Groups of fields

${groups
  .filter(({ title }) => !shared.some((part) => part.title === title))
  .map(
    (group) =>
      `### ${group.title}\n\n${list({ ...group, properties: pick(group.properties, ...ownNames(group)) }, group.title)}`,
  )
  .join('\n')}`;

generated('docs/reference/custom-resources.md', () => content);

function resource(definition) {
  const { names, versions } = definition.spec;
  const { description, properties } = versions[0].schema.openAPIV3Schema;
  const spec = `### ${names.kind} spec\n\n${list(properties.spec)}`;
  if (!isApplied(definition)) return `## ${names.kind}\n\n${sentence(description)}\n\n${spec}`;
  const short = `\`kubectl get ${names.shortNames[0]}\``;
  const status = Object.entries(properties.status.properties);
  const usual = status.filter(([name]) => name in common || name === 'conditions');
  return `## ${names.kind}

${sentence(description)} Short name: ${short}.

${spec}
### ${names.kind} status

${list({ ...properties.status, properties: Object.fromEntries([...new Map([...usual, ...status])]) })}`;
}

function introduction({ schema }) {
  return schema.description ? `${sentence(schema.description)}\n\n` : '';
}

/** Returns a line for each field of an object or group, and one for the fields of each group. `own` is the title of its section. */
function list(schema, own) {
  return `${linesBelow(schema, '', own).join('\n')}\n`;
}

function linesBelow({ properties, required = [] }, prefix, own) {
  const rest = new Map(Object.entries(properties));
  const position = groups.findIndex(({ title }) => title === own);
  // A group has fields of earlier groups, never of itself.
  const ofGroups = groups.slice(0, position < 0 ? undefined : position).flatMap((group) => {
    const names = [...rest].filter(([name, schema]) => isField(group, name, schema)).map(([name]) => name);
    if (names.length < 3) return [];
    for (const name of names) rest.delete(name);
    return [`${indent(prefix)}- ${link(group.title)}${extent(names, ownNames(group))}`];
  });
  return [...[...rest].flatMap(([name, schema]) => linesOf(name, schema, prefix, required)), ...ofGroups];
}

function isField(group, name, schema) {
  const there = group.properties[name];
  return there !== undefined && JSON.stringify(there) === JSON.stringify(schema);
}

/** Returns the names of the fields of a group that are not fields of an earlier group. */
function ownNames(group) {
  const earlier = groups.slice(0, groups.indexOf(group));
  return Object.entries(group.properties)
    .filter(([name, schema]) => !earlier.some((each) => isField(each, name, schema)))
    .map(([name]) => name);
}

/** Returns which of all fields of a group an object has. */
function extent(names, all) {
  const missing = all.filter((name) => !names.includes(name));
  if (missing.length === 0) return '';
  return missing.length < names.length ? ` except ${codes(missing)}` : `: ${codes(names)}`;
}

function linesOf(name, schema, prefix, required) {
  const path = `${prefix}${name}${schema.type === 'array' ? '[]' : ''}`;
  const inner = schema.type === 'array' ? schema.items : schema;
  const own = kubernetesName(inner);
  const part = !own && inner.properties && sharedWith(inner);
  const hasOwnFields = !own && !part && inner.properties;
  const type = own
    ? `[${own}](https://kubernetes.io/docs/reference/kubernetes-api/)`
    : part
      ? link(part.title)
      : typeOf(inner);
  const notes = [!hasOwnFields && type !== 'string' && type, required.includes(name) && '**required**'].filter(Boolean);
  const text = meaning(schema, inner, part);
  const line = `${indent(prefix)}- \`${path}\`${notes.length > 0 ? ` (${notes.join(', ')})` : ''}${text ? `: ${text}` : ''}`;
  return [line, ...(hasOwnFields ? linesBelow(inner, `${path}.`) : [])];
}

/** Returns what the description, the values and the default say, without what the section of a shared part says. */
function meaning(schema, inner, part) {
  const description = sentence(schema.description);
  const facts = [
    part ? description.replace(sentence(part.schema.description), '').replaceAll('  ', ' ').trim() : description,
    inner.enum && inner.type !== 'boolean' && `One of ${codes(inner.enum)}.`,
    schema.default !== undefined &&
      !/Default:/.test(schema.description) &&
      `Default: \`${JSON.stringify(schema.default)}\`.`,
  ];
  return facts.filter(Boolean).join(' ');
}

function typeOf({ type, format, 'x-kubernetes-int-or-string': either }) {
  if (either) return 'integer or string';
  return format === 'date-time' ? 'time' : type;
}

function link(title) {
  return `[${title}](#${anchor(title)})`;
}

function codes(names) {
  return names.map((name) => `\`${name}\``).join(', ');
}

/** Returns the indentation of the fields below a path. */
function indent(prefix) {
  return '  '.repeat(prefix.split('.').length - 1);
}

function pick(properties, ...names) {
  return Object.fromEntries(names.map((name) => [name, properties[name]]));
}

function sentence(text) {
  const escaped = text.replace(/\s+/g, ' ').replace(/`[^`]*`|</g, (found) => (found === '<' ? '&lt;' : found));
  // Names between braces are templates, which belong into code.
  return escaped.replace(/\{\{ [.\w]+ \}\}/g, '`$&`');
}
