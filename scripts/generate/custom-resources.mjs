// Writes docs/reference/custom-resources.md from the definitions in scripts/crds/. With --check it writes nothing, and fails if the
// page is out of date.
import { common, conditions } from '../crds/conditions.mjs';
import { isApplied } from '../crds/crd.mjs';
import { resources } from '../crds/files.mjs';
import { kubernetesName } from '../crds/kubernetes.mjs';
import { files, secretFiles, store } from '../crds/store.mjs';
import { generated } from '../lib/generated.mjs';

const fieldsOf = (schema) => JSON.stringify(schema.properties);
const fromSecret = secretFiles('Files from a Secret.');
const fromEither = files('Files from a Secret or a ConfigMap.');
const aStore = store('A place for snapshots. Exactly one of the fields below the first level is given.');
const condition = conditions('').items;

/** Parts that many fields have in common. Each has one section, to which the fields link. */
const shared = [
  { title: 'Files', schema: fromEither, matches: [fromSecret, fromEither].map(fieldsOf) },
  { title: 'Condition', schema: condition, matches: [fieldsOf(condition)] },
  ...Object.entries(aStore.properties).map(([name, schema]) => ({
    title: `Store: ${name}`,
    schema,
    matches: [fieldsOf(schema)],
  })),
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

${shared.map(({ title, schema }) => `### ${title}\n\n${sentence(schema.description)}\n\n${table(rowsBelow(schema, ''))}`).join('\n')}`;

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

/** Returns a row for each field below an object, with the path from there. */
function rowsBelow({ properties, required = [] }, prefix) {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${prefix}${name}${schema.type === 'array' ? '[]' : ''}`;
    const inner = schema.type === 'array' ? schema.items : schema;
    const own = kubernetesName(inner);
    if (own) {
      const type = `[${own}](https://kubernetes.io/docs/reference/kubernetes-api/)`;
      return [{ path, type, schema, required: required.includes(name) }];
    }
    const part = inner.properties && sharedWith(inner);
    const row = { path, type: part ? `[${part.title.toLowerCase()}](#${anchor(part.title)})` : typeOf(inner), schema };
    return [
      { ...row, required: required.includes(name) },
      ...(inner.properties && !part ? rowsBelow(inner, `${path}.`) : []),
    ];
  });
}

function typeOf({ type, format, 'x-kubernetes-int-or-string': either }) {
  if (either) return 'integer or string';
  return format === 'date-time' ? 'time' : type;
}

function table(rows) {
  const lines = rows.map(({ path, type, schema, required }) => {
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
