// Makes a JSON Schema (draft 2020-12) of a custom resource from its definition. Keywords that begin with `x-kubernetes-` stay:
// editors ignore them, and src/resource/ evaluates them.
import { keys, nameOf, whole } from './schema.mjs';

/** Schema of the whole resource, without the status, which nobody writes. */
export function jsonSchema({ spec: { group, names, versions } }) {
  const [{ name, schema }] = versions;
  const { description, properties, 'x-kubernetes-validations': rules } = schema.openAPIV3Schema;
  const { metadata, spec } = properties;
  const $defs = {};
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: names.kind,
    description,
    type: 'object',
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
    properties: {
      apiVersion: { const: `${group}/${name}` },
      kind: { const: names.kind },
      metadata,
      spec: standard(spec, $defs),
      ...(properties.status && { status: { description: 'What the reconciler reports. Do not write it.' } }),
    },
    ...(rules && { 'x-kubernetes-validations': rules }),
    $defs,
  };
}

/** A schema that has a name is in `$defs` once. */
function standard(given, $defs) {
  const schema = given[whole] ?? given;
  const name = nameOf(schema);
  if (!name) return inPlace(schema, $defs);
  const { description, ...rest } = schema;
  $defs[name] ??= inPlace(rest, $defs);
  return { ...(description && { description }), $ref: `#/$defs/${name}` };
}

function inPlace(schema, $defs) {
  const { description, type, nullable, format, properties, items, additionalProperties, ...rest } = schema;
  const either = rest['x-kubernetes-int-or-string'];
  const isSet = rest['x-kubernetes-list-type'] === 'set';
  return {
    ...(description && { description }),
    ...(type && { type: nullable ? [type, 'null'] : type }),
    ...(either && { type: ['integer', 'string'] }),
    // Others are not of JSON Schema.
    ...(format === 'date-time' && { format }),
    ...rest,
    ...(isSet && { uniqueItems: true }),
    ...(items && { items: standard(items, $defs) }),
    ...(properties && {
      properties: mapValues(properties, (each) => standard(each, $defs)),
      ...(!rest['x-kubernetes-preserve-unknown-fields'] && { additionalProperties: false }),
    }),
    ...(schema[keys] && { propertyNames: { pattern: schema[keys] } }),
    ...(additionalProperties && { additionalProperties: standard(additionalProperties, $defs) }),
  };
}

const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
