import * as z from 'zod/mini';

export const text = z.string();
export const count = z.int().check(z.nonnegative());
/** Any JSON object. */
export const anything = z.record(text, z.unknown());
export const byOrdinal = <T extends z.ZodMiniType>(value: T) => z.record(z.string().check(z.regex(/^\d+$/)), value);

/** A schema for each field of T. The compiler reports a missing field and a schema of the wrong type. */
export type SchemaShape<T> = { readonly [K in keyof Required<T>]: z.ZodMiniType<T[K]> };

export const scheme = z.enum(['http', 'https']);
/** Fields of `Schemes`. */
export const schemes = { peers: scheme, clients: z.enum(['http', 'both', 'https']) };
