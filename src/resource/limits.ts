import { isReserved } from '../validation/plain-object';
import { isTimestamp } from '../validation/times';
import type { Schema } from './schema';

/** How a type is called, and how its values are written. */
const types: Readonly<Record<string, readonly [name: string, remedy: string, accepts: (value: unknown) => boolean]>> = {
  string: ['text', 'write it in quotes', (value) => typeof value === 'string'],
  integer: ['a whole number', 'write it like 3', Number.isSafeInteger],
  number: ['a number', 'write it like 0.5', (value) => typeof value === 'number'],
  boolean: ['true or false', 'write one of them, without quotes', (value) => typeof value === 'boolean'],
  array: ['a list', 'write it like [a, b]', Array.isArray],
  object: [
    'an object',
    'write its fields',
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ],
  null: ['null', 'leave it out', (value) => value === null],
};

const typesOf = ({ type = [] }: Schema): readonly string[] => [type].flat();

/** Returns whether a value is of another type than the schema says. */
export function isWrong(schema: Schema, value: unknown): boolean {
  const accepted = typesOf(schema);
  return accepted.length > 0 && !accepted.some((type) => types[type]![2](value));
}

/** The value is not shown, because it could be a secret in the wrong place. */
export function wrongType(schema: Schema, value: unknown): string {
  if (typeof value === 'number' && typesOf(schema).includes('integer'))
    return `${value} is not a whole number: round it`;
  // A number is not a secret.
  if (typeof value === 'number' && typesOf(schema).includes('string'))
    return `${value} is a number, not text: write it in quotes`;
  const wanted = typesOf(schema).filter((type) => type !== 'null');
  const [is] = Object.entries(types).find(([type, [, , accepts]]) => type !== 'integer' && accepts(value)) ?? [''];
  return `is ${types[is]?.[0] ?? is}, not ${wanted.map((type) => types[type]![0]).join(' or ')}: ${types[wanted[0]!]![1]}`;
}

/** How a value is shown in a message. */
export function shown(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  if (/(:|\/\/)[^/]*@/.test(value)) return 'a value with a password';
  return value.length > 80 ? `'${value.slice(0, 40)}…'` : `'${value}'`;
}

/** Problems with a value that has the right type. */
export function limitProblems(schema: Schema, value: unknown): string[] {
  const found = [choice(schema, value), ...size(schema, value), form(schema, value), keys(schema, value)];
  return found.filter((problem) => problem !== undefined);
}

function choice({ enum: choices }: Schema, value: unknown): string | undefined {
  if (!choices || choices.includes(value as string)) return undefined;
  return `${shown(value)} is not one of ${choices.join(', ')}: write one of these`;
}

/** cdk8s writes these texts without quotes, and kubectl reads them as numbers. */
const numberOfKubectl = /^[-+]?0(o[0-7_]+|O[0-7_]+|X[\da-fA-F_]+|B[01_]+)$/;

function form({ format, pattern }: Schema, value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (numberOfKubectl.test(value)) return `${shown(value)} is a number for kubectl: choose another text`;
  if (format === 'date-time' && !isTimestamp(value))
    return `${shown(value)} is not a valid time: write it like 2026-11-21T02:30:00Z`;
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    return `${shown(value)} does not match ${pattern}: correct it`;
  return undefined;
}

function keys({ propertyNames }: Schema, value: unknown): string | undefined {
  if (!propertyNames) return undefined;
  const pattern = new RegExp(propertyNames.pattern, 'u');
  // A reserved name is reported as such.
  const wrong = Object.keys(value as object).find((key) => !isReserved(key) && !pattern.test(key));
  if (wrong === undefined) return undefined;
  return `${shown(wrong)} is not a valid name of a label or annotation: write it like team or example.com/team`;
}

function size(schema: Schema, value: unknown): (string | undefined)[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, maxProperties } = schema;
  if (typeof value === 'number')
    return [
      minimum !== undefined && value < minimum ? `${value} is too small: give at least ${minimum}` : undefined,
      maximum !== undefined && value > maximum ? `${value} is too large: give at most ${maximum}` : undefined,
    ];
  if (typeof value === 'string') return [count([...value].length, ['character', 'characters'], minLength, maxLength)];
  if (Array.isArray(value)) return [count(value.length, ['item', 'items'], minItems, maxItems)];
  return [count(Object.keys(value as object).length, ['entry', 'entries'], 0, maxProperties)];
}

type Noun = readonly [one: string, many: string];

function count(length: number, [one, many]: Noun, least = 0, most = Number.POSITIVE_INFINITY): string | undefined {
  const things = (number: number) => `${number} ${number === 1 ? one : many}`;
  if (length < least) return `${length === 0 ? 'is empty' : `has ${things(length)}`}: give at least ${things(least)}`;
  return length > most ? `has ${things(length)}: give at most ${most}` : undefined;
}
