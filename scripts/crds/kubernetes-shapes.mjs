// Writes scripts/crds/kubernetes-shapes.json from the OpenAPI of a Kubernetes, after a change of the fields that use it:
// `kubectl get --raw /openapi/v3/api/v1 | node scripts/crds/kubernetes-shapes.mjs`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatted } from '../lib/generated.mjs';

const wanted = [
  ...['Affinity', 'TopologySpreadConstraint', 'HostAlias', 'PodDNSConfig', 'PodSecurityContext', 'SecurityContext'],
  ...['EnvVar', 'EnvFromSource', 'VolumeMount', 'Volume', 'Container', 'LabelSelector', 'TypedObjectReference'],
];

const { schemas } = JSON.parse(readFileSync(0, 'utf8')).components;
const nameOf = (reference) => reference.split('.').at(-1);
const fullNames = new Map(Object.keys(schemas).map((name) => [nameOf(name), name]));
const shapes = {};
for (const name of wanted) add(name);

const sorted = Object.fromEntries(Object.entries(shapes).sort(([a], [b]) => (a < b ? -1 : 1)));
const file = 'scripts/crds/kubernetes-shapes.json';
writeFileSync(join(import.meta.dirname, '../..', file), formatted(file, JSON.stringify(sorted)));

function add(name) {
  if (name in shapes) return;
  shapes[name] = {};
  shapes[name] = shapeOf(schemas[fullNames.get(name)]);
}

/** A schema without descriptions and defaults. A reference has only the last part of its name. */
function shapeOf(schema) {
  const reference = schema.$ref ?? schema.allOf?.[0].$ref;
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
  add(name);
  return { $ref: name };
}
