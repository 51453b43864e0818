import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { schemaOf as resourceSchema } from '../../src/resource/schema';
import type { Manifest } from '../synth';

export const crdDirectory = join(__dirname, '../../crds');

export const schemaOf = (crd: Manifest): Manifest => crd.spec.versions[0].schema.openAPIV3Schema;

export const wholeCrds = (): Manifest[] =>
  readdirSync(crdDirectory).map((file) => parse(readFileSync(join(crdDirectory, file), 'utf8'), { version: '1.1' }));

/** The definitions, without what is below a shape of Kubernetes: descriptions, limits and rules there are not ours. */
export const crds: readonly Manifest[] = wholeCrds().map((crd) => {
  const { $defs, properties } = jsonSchemaOf(crd.spec.names.singular);
  const schema = schemaOf(crd).properties;
  schema.spec = withoutShapes(schema.spec, properties.spec, $defs);
  return crd;
});

function jsonSchemaOf(kind: string): Manifest {
  return JSON.parse(readFileSync(join(__dirname, `../../schemas/${kind.toLowerCase()}.json`), 'utf8'));
}

/** The names of these shapes begin alike in the JSON Schema of the kind. */
function withoutShapes(schema: Manifest, of: Manifest, defs: Manifest): Manifest {
  const { properties, items, additionalProperties, required, ...leaf } = schema;
  const name: string = of.$ref?.slice('#/$defs/'.length) ?? '';
  if (name.startsWith('Kubernetes')) return leaf;
  const inner = of.$ref ? defs[name] : of;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries<Manifest>(properties).map(([field, each]) => [
          field,
          withoutShapes(each, inner.properties[field], defs),
        ]),
      ),
    }),
    ...(items && { items: withoutShapes(items, inner.items, defs) }),
    ...(additionalProperties && {
      additionalProperties: withoutShapes(additionalProperties, inner.additionalProperties, defs),
    }),
  };
}

/** Kinds that only `render` reads, in the form of a definition. */
const rendered: readonly Manifest[] = (['EtcdBackupSchedule', 'EtcdReconciler'] as const).map((kind) => {
  const { properties, ...whole } = resourceSchema(kind);
  const json = jsonSchemaOf(kind);
  const spec = withoutShapes(properties!.spec!, json.properties.spec, json.$defs);
  const openAPIV3Schema = { ...whole, properties: { ...properties, spec } };
  return { spec: { names: { kind }, versions: [{ schema: { openAPIV3Schema } }] } };
});
export const kinds: readonly Manifest[] = [...crds, ...rendered];
/** True if the API server has its kind. */
export const isServed = ({ kind }: Manifest): boolean => crds.some((crd) => crd.spec.names.kind === kind);

export type Path = readonly (string | number)[];

export interface Place {
  readonly path: Path;
  readonly schema: Manifest;
}

/** Yields every value of an object with its schema, those of maps included, and every field that the object lacks. */
export function* placesOf(schema: Manifest, value: Manifest, path: Path = []): Generator<Place> {
  yield { path, schema };
  if (value === undefined) return;
  if (schema.items) {
    for (const [index, item] of value.entries()) yield* placesOf(schema.items, item, [...path, index]);
  }
  for (const [name, field] of Object.entries<Manifest>(schema.properties ?? {})) {
    yield* placesOf(field, value[name], [...path, name]);
  }
  for (const name of schema.additionalProperties ? Object.keys(value) : []) {
    yield* placesOf(schema.additionalProperties, value[name], [...path, name]);
  }
}

/** The field of the schema at a path in the notation of the API server: `spec.backup.schedules[].stores[].command.env.*`. */
export const fieldIn = (schema: Manifest, path: string): string => fieldBelow(schema, path).slice(1);

function fieldBelow(schema: Manifest, path: string): string {
  if (path === '') return '';
  if (schema.additionalProperties) return '.*';
  const [, index, name, rest = ''] = /^(?:\[(\d+)\]|[.]?([^.[]+))(.*)$/.exec(path)!;
  if (index !== undefined) return `[]${fieldBelow(schema.items, rest)}`;
  const field = schema.properties?.[name!];
  return `.${name}${field ? fieldBelow(field, rest) : rest}`;
}

/** In the notation of the API server: `spec.backup.schedules[0].name`. */
export const fieldOf = (path: Path): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1);

/** Returns a copy with another value, or without it. */
export function changed(object: Manifest, path: Path, value: Manifest): Manifest {
  const copy = structuredClone(object);
  const parent = path.slice(0, -1).reduce((inner: Manifest, step) => inner[step], copy);
  const last = path.at(-1) as string;
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}
