// Writes src/resource/types.ts, the types of the custom resources, from scripts/crds/. With --check it writes nothing, and fails
// if the file is out of date.
import { resources } from '../crds/files.mjs';
import { kubernetesName } from '../crds/kubernetes.mjs';
import { nameOf } from '../crds/schema.mjs';
import { formatted, generated } from '../lib/generated.mjs';

const file = 'src/resource/types.ts';
/** Text of each named type. */
const types = new Map();

for (const { spec: definition } of resources) {
  const { kind } = definition.names;
  const { spec, status } = definition.versions[0].schema.openAPIV3Schema.properties;
  define(`${kind}Spec`, spec);
  if (status) define(`${kind}Status`, status);
}

generated(file, () =>
  formatted(
    file,
    [
      '// Written by `npm run generate` from scripts/crds/. A field with a default of the schema may be missing in what is written,',
      '// and never is in what the API server returns.',
      ...[...types].map(([name, { text }]) => `export interface ${name} ${text}`),
    ].join('\n\n'),
  ),
);

/** Adds an interface. Two schemas of one name must be equal. */
function define(name, schema) {
  const fields = JSON.stringify(schema.properties);
  const before = types.get(name);
  if (before && before.fields !== fields) throw new Error(`two schemas are called ${name}, and differ`);
  if (!before) types.set(name, { fields, text: members(schema) });
  return name;
}

function typeOf(schema) {
  if (kubernetesName(schema)) return 'Readonly<Record<string, unknown>>';
  const name = nameOf(schema);
  const type = name ? define(name, schema) : unnamed(schema);
  return schema.nullable ? `${type} | null` : type;
}

function unnamed(schema) {
  switch (schema.type) {
    case 'string':
      return schema.enum ? schema.enum.map((value) => `'${value}'`).join(' | ') : 'string';
    case 'integer':
      return 'number';
    case 'boolean':
      return schema.enum?.length === 1 ? String(schema.enum[0]) : 'boolean';
    case 'array': {
      const item = typeOf(schema.items);
      return `readonly ${/[|]/.test(item) && !item.startsWith('{') ? `(${item})` : item}[]`;
    }
    case 'object':
      if (schema['x-kubernetes-preserve-unknown-fields']) return 'Readonly<Record<string, unknown>>';
      return schema.additionalProperties
        ? `Readonly<Record<string, ${typeOf(schema.additionalProperties)}>>`
        : members(schema);
    default:
      throw new Error(`a type for ${JSON.stringify(schema)} is missing`);
  }
}

function members({ properties, required = [] }) {
  const lines = Object.entries(properties).map(
    ([name, schema]) => `${comment(schema)}readonly ${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema)};`,
  );
  return `{\n${lines.join('\n')}\n}`;
}

function comment({ description, default: value }) {
  const fallback = value === undefined || typeof value === 'object' ? '' : ` @default ${value}`;
  return description ? `/** ${description.replaceAll('*/', '*\\/')}${fallback} */\n` : '';
}
