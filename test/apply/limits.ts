import type { Manifest } from '../synth';
import { changed, fieldOf, type Place } from './schema';

export interface BadValue {
  readonly what: string;
  readonly manifest: Manifest;
  /** Expected message about the field. */
  readonly says: RegExp;
  readonly field: string;
}

type Limit = readonly [what: string, value: Manifest, says: RegExp];

/** Returns an invalid resource for each limit of each field in a valid one. */
export function badValues(manifest: Manifest, { path, schema }: Place, value: Manifest): BadValue[] {
  const limits = [...textLimits(schema), ...numberLimits(schema), ...listLimits(schema, value), ...typeLimits(schema)];
  const field = fieldOf(path);
  const bad = limits.map(([what, wrong, says]) => ({ what, manifest: changed(manifest, path, wrong), says, field }));
  const missing = (schema.required ?? []).map((name: string) => ({
    what: 'missing',
    manifest: changed(manifest, [...path, name], undefined),
    says: /Required value/,
    field: fieldOf([...path, name]),
  }));
  return [...bad, ...missing];
}

function textLimits(schema: Manifest): Limit[] {
  if (schema.type !== 'string') return [];
  const { maxLength, minLength, enum: choices, format } = schema;
  return given(
    maxLength && [
      'too long',
      'a'.repeat(maxLength + 1),
      new RegExp(`Too long: may not be more than ${maxLength} bytes`),
    ],
    minLength && ['too short', '', new RegExp(`should be at least ${minLength} chars long`)],
    choices && ['no choice', 'nonsense', /Unsupported value: "nonsense": supported values: "/],
    format && ['malformed', 'yesterday', /must be of type date-time/],
  );
}

function numberLimits({ minimum, maximum }: Manifest): Limit[] {
  return given(
    minimum !== undefined && ['too small', minimum - 1, new RegExp(`should be greater than or equal to ${minimum}$`)],
    maximum !== undefined && ['too large', maximum + 1, new RegExp(`should be less than or equal to ${maximum}$`)],
  );
}

function listLimits({ minItems, maxItems, maxProperties }: Manifest, value: Manifest): Limit[] {
  const pairs = Array.from({ length: (maxProperties ?? 0) + 1 }, (_, index) => [`A${index}`, 'b']);
  return given(
    minItems && ['empty', [], new RegExp(`should have at least ${minItems} items`)],
    maxItems && ['too many', Array(maxItems + 1).fill(value[0]), new RegExp(`must have at most ${maxItems} items?`)],
    maxProperties && [
      'too many',
      Object.fromEntries(pairs),
      new RegExp(`must have at most ${maxProperties} (items|properties)`),
    ],
  );
}

function typeLimits({ type, format }: Manifest): Limit[] {
  const wanted = format === 'date-time' ? format : type;
  return [['of the wrong type', type === 'string' ? 5 : 'five', new RegExp(`must be of type ${wanted}`)]];
}

const given = (...limits: (Limit | false | 0 | undefined)[]): Limit[] =>
  limits.filter((limit): limit is Limit => !!limit);
