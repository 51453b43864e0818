// Writes what the OpenAPI of a Kubernetes says of its objects: scripts/crds/kubernetes-shapes.json for fields that have one of its
// shapes, and src/overrides/kubernetes-types.ts for overrides. After a change of these, and for a newer Kubernetes:
// `kubectl get --raw /openapi/v2 | node scripts/crds/kubernetes-shapes.mjs`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatted } from '../lib/generated.mjs';

const { definitions } = JSON.parse(readFileSync(0, 'utf8'));
const nameOf = (reference) => reference.split('.').at(-1);
const fullNames = new Map(
  Object.keys(definitions).flatMap((name) =>
    /^io\.k8s\.(api\.(core|apps|batch|policy)\.v1|apimachinery)\./.test(name) ? [[nameOf(name), name]] : [],
  ),
);
const definitionOf = (name) => definitions[fullNames.get(name)];
const referenceIn = (schema) => schema.$ref ?? schema.allOf?.[0].$ref;
const scalars = ['Quantity', 'IntOrString', 'Time', 'MicroTime', 'FieldsV1'];

const shapes = {};
for (const name of [
  ...['Affinity', 'TopologySpreadConstraint', 'HostAlias', 'PodDNSConfig', 'PodSecurityContext', 'SecurityContext'],
  ...['EnvVar', 'EnvFromSource', 'VolumeMount', 'Volume', 'Container', 'LabelSelector', 'TypedObjectReference'],
])
  addShape(name);
write('scripts/crds/kubernetes-shapes.json', JSON.stringify(sorted(shapes)));

const types = {};
for (const name of [
  ...['PodTemplateSpec', 'StatefulSet', 'Deployment', 'CronJob', 'Service', 'ServiceAccount', 'PersistentVolumeClaim'],
  'PodDisruptionBudget',
])
  addType(name);
write(
  'src/overrides/kubernetes-types.ts',
  [
    `// Written by scripts/crds/kubernetes-shapes.mjs from the OpenAPI of Kubernetes.`,
    `/**\n * The fields of each type. After a colon is the type: of a value, or of an object, with [] that of the items of a list, and with a\n * key the field by which a strategic merge patch finds an item. An object of texts is strings.\n */\nexport const kubernetesTypes: Readonly<Record<string, string>> = ${JSON.stringify(sorted(types))};`,
  ].join('\n\n'),
);

function write(file, text) {
  writeFileSync(join(import.meta.dirname, '../..', file), formatted(file, text));
}

function sorted(named) {
  return Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function addShape(name) {
  if (name in shapes) return;
  shapes[name] = {};
  shapes[name] = shapeOf(definitionOf(name));
}

/** A schema without descriptions and defaults. A reference has only the last part of its name. */
function shapeOf(schema) {
  const reference = referenceIn(schema);
  if (reference) return referenceTo(nameOf(reference));
  const { type, required, properties, items, additionalProperties } = schema;
  return {
    type,
    ...(required && { required }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, shapeOf(each)])),
    }),
    ...(items && { items: shapeOf(items) }),
    ...(additionalProperties && { additionalProperties: shapeOf(additionalProperties) }),
  };
}

function referenceTo(name) {
  if (name === 'Quantity' || name === 'IntOrString') return { 'x-kubernetes-int-or-string': true };
  addShape(name);
  return { $ref: name };
}

/** Nobody writes the status. */
function addType(name) {
  if (name in types) return;
  types[name] = '';
  const fields = Object.entries(definitionOf(name).properties ?? {}).filter(([field]) => field !== 'status');
  types[name] = fields.map(([field, schema]) => `${field}${typeOf(schema)}`).join(' ');
}

function typeOf(schema) {
  const isList = schema.type === 'array';
  const reference = referenceIn(isList ? schema.items : schema);
  const isObject = reference !== undefined && !scalars.includes(nameOf(reference));
  if (isObject) addType(nameOf(reference));
  const type = isObject ? nameOf(reference) : reference ? '' : kindOfValue(isList ? schema.items : schema);
  const list = isList ? `[${schema['x-kubernetes-patch-merge-key'] ?? ''}]` : '';
  return type || list ? `:${type}${list}` : '';
}

/** Any value is one of a Quantity, which may be a number. */
function kindOfValue({ type, additionalProperties }) {
  if (type === 'object') return additionalProperties?.type === 'string' ? 'strings' : '';
  return ['string', 'integer', 'boolean'].includes(type) ? type : '';
}
