import { insteadOf } from '../validation/other-names';
import { isObject } from '../validation/plain-object';
import type { DocumentReport } from './report';

/** Reads an object of a document field by field, and so knows which of its fields have not been read. */
export class Fields {
  private readonly known = new Set<string>();
  private readonly children: Fields[] = [];

  constructor(
    private readonly data: Readonly<Record<string, unknown>>,
    readonly path: string,
    readonly report: DocumentReport,
  ) {}

  has(key: string): boolean {
    return this.value(key) !== undefined;
  }

  /** Returns the path of a field, as it appears in messages. */
  at(key: string): string {
    return this.path === '' ? key : `${this.path}.${key}`;
  }

  string(key: string): string | undefined {
    return this.typed(key, 'text', (value): value is string => typeof value === 'string');
  }

  /** Reads a string. An empty string means that there is none, because Go programs write it that way. */
  text(key: string): string | undefined {
    return this.string(key) || undefined;
  }

  /** Reads a required string. If it is missing, reports an error and returns the empty string. */
  required(key: string): string {
    const text = this.string(key);
    if (!text && !this.isWrong(key)) this.report.error(this.at(key), 'is missing; add it');
    return text ?? '';
  }

  oneOf<T extends string>(key: string, values: readonly T[]): T | undefined {
    const text = this.text(key);
    const value = values.find((candidate) => candidate === text);
    if (text !== undefined && value === undefined)
      this.report.error(this.at(key), `is not one of ${values.join(', ')}; write one of these`);
    return value;
  }

  integer(key: string): number | undefined {
    return this.typed(key, 'a whole number', (value): value is number => Number.isSafeInteger(value));
  }

  boolean(key: string): boolean | undefined {
    return this.typed(key, 'true or false', (value): value is boolean => typeof value === 'boolean');
  }

  strings(key: string): string[] | undefined {
    return this.typed(
      key,
      'a list of strings',
      (value): value is string[] => Array.isArray(value) && value.every((item) => typeof item === 'string'),
    );
  }

  /** Reads a quantity, for which Kubernetes also accepts a number. */
  quantity(key: string): string | undefined {
    const isQuantity = (value: unknown): value is string | number => ['string', 'number'].includes(typeof value);
    return this.typed(key, 'a quantity', isQuantity)?.toString();
  }

  map(key: string): Record<string, string> | undefined {
    return this.typed(
      key,
      'a map of strings',
      (value): value is Record<string, string> =>
        isObject(value) && Object.values(value).every((item) => typeof item === 'string'),
    );
  }

  object(key: string): Fields | undefined {
    const value = this.typed(key, 'a map', isObject);
    return value && this.child(value, this.at(key));
  }

  objects(key: string): Fields[] {
    const isList = (value: unknown): value is Record<string, unknown>[] =>
      Array.isArray(value) && value.every(isObject);
    return (this.typed(key, 'a list of maps', isList) ?? []).map((item, index) =>
      this.child(item, `${this.at(key)}[${index}]`),
    );
  }

  /** Returns everything, for a reader that knows all fields by a schema. */
  whole(): Readonly<Record<string, unknown>> {
    this.ignore(...Object.keys(this.data));
    return this.data;
  }

  /** Names of the fields that have a value. */
  get keys(): string[] {
    return Object.keys(this.data).filter((key) => isGiven(this.data[key]));
  }

  /** Returns a value as it is, and does not mark it as read. */
  peek(key: string): unknown {
    return Object.hasOwn(this.data, key) ? this.data[key] : undefined;
  }

  /** Marks fields as read that have no meaning here. */
  ignore(...keys: readonly string[]): void {
    for (const key of keys) this.known.add(key);
  }

  /** Reports a field that is known, but cannot be carried over. */
  lose(key: string, why: string): void {
    if (this.has(key)) this.report.lost(this.at(key), why);
  }

  /** Returns the fields that have not been read, here and below, each with what to do about it. */
  unread(): { readonly path: string; readonly remedy: string }[] {
    const here = this.keys
      .filter((key) => !this.known.has(key))
      .map((key) => ({ path: this.at(key), remedy: insteadOf(key, this.known) }));
    return [...here, ...this.children.flatMap((child) => child.unread())];
  }

  private child(value: Readonly<Record<string, unknown>>, path: string): Fields {
    const child = new Fields(value, path, this.report);
    this.children.push(child);
    return child;
  }

  private value(key: string): unknown {
    this.known.add(key);
    return isGiven(this.data[key]) ? this.data[key] : undefined;
  }

  private isWrong(key: string): boolean {
    const value = this.value(key);
    return value !== undefined && typeof value !== 'string';
  }

  private typed<T>(key: string, wanted: string, is: (value: unknown) => value is T): T | undefined {
    const value = this.value(key);
    if (value === undefined || is(value)) return value;
    // Show only the type of the value, because it could be a secret in the wrong place.
    const remedy = wanted === 'text' && !isObject(value) && !Array.isArray(value) ? 'write it in quotes' : 'correct it';
    this.report.error(this.at(key), `is ${typeName(value)}, not ${wanted}; ${remedy}`);
    return undefined;
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (typeof value === 'boolean') return 'true or false';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
}

/** A map, unless it is empty. */
export const filled = <T extends object>(map: T | undefined): T | undefined =>
  map && Object.keys(map).length > 0 ? map : undefined;
