import { isObject } from '../validation/plain-object';
import { type Kind, type Schema, schemaOf } from './schema';

/** A reader looks for the size. A reconciler that is named is not created, even if its name is the usual one. */
const keptIn: Partial<Record<Kind, readonly string[]>> = { EtcdCluster: ['size', 'reconciler'] };

type Values = Readonly<Record<string, unknown>>;

/**
 * Returns a spec without the defaults that the API server fills in, so that a resource is the same before and after it was applied.
 * Items of lists keep theirs, because Argo CD compares lists as a whole.
 */
export function normalSpec<Spec extends object>(kind: Kind, spec: Spec): Spec {
  const { properties = {} } = schemaOf(kind);
  const normal = withoutDefaults(properties.spec!, spec as Values) as Spec;
  const kept = Object.entries(spec).filter(([name, value]) => value !== undefined && keptIn[kind]?.includes(name));
  return { ...normal, ...Object.fromEntries(kept) };
}

function withoutDefaults({ properties = {} }: Schema, values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const schema = properties[name];
      if (value === undefined || (schema?.default !== undefined && value === schema.default)) return [];
      if (!schema?.properties || !isObject(value)) return [[name, value]];
      const rest = withoutDefaults(schema, value);
      // An object that had something else than defaults, or nothing at all, has a meaning.
      const isGone = Object.keys(rest).length === 0 && given(value) > 0;
      return isGone ? [] : [[name, rest]];
    }),
  );
}

const given = (value: Values): number => Object.values(value).filter((each) => each !== undefined).length;
