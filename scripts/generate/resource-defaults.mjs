// Writes src/resource/defaults.ts, the defaults of the custom resources, from scripts/crds/. With --check it writes nothing, and
// fails if the file is out of date.
import { resources } from '../crds/files.mjs';
import { defaultOf, nameOf } from '../crds/schema.mjs';
import { formatted, generated } from '../lib/generated.mjs';

const file = 'src/resource/defaults.ts';
/** Defaults of each type that has some. */
const types = new Map();

for (const { spec: definition } of resources)
  define(`${definition.names.kind}Spec`, definition.versions[0].schema.openAPIV3Schema.properties.spec);

generated(file, () =>
  formatted(
    file,
    [
      '// Written by `npm run generate` from scripts/crds/.',
      '/** What a field means while it is missing, by the types of types.ts. A field without a constant default is not here. */\n' +
        `export const defaults = ${JSON.stringify(Object.fromEntries(types))} as const;`,
    ].join('\n\n'),
  ),
);

/** A type that has a name has its defaults under this name only. */
function define(name, schema) {
  if (types.has(name)) return;
  types.set(name, {});
  const found = fieldsOf(schema);
  if (found) types.set(name, found);
  else types.delete(name);
}

function defaultsBelow(schema) {
  const given = defaultOf(schema);
  const name = nameOf(schema);
  if (name) define(name, schema);
  if (given !== undefined) return given;
  if (schema.items) return defaultsBelow(schema.items);
  return name ? undefined : fieldsOf(schema);
}

function fieldsOf({ properties = {} }) {
  const fields = Object.entries(properties).map(([name, schema]) => [name, defaultsBelow(schema)]);
  const given = fields.filter(([, value]) => value !== undefined);
  return given.length > 0 ? Object.fromEntries(given) : undefined;
}
