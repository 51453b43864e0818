/** An observed value. A failed read carries its cause and never counts as "absent". */
export type Known<T> = { readonly known: true; readonly v: T } | Unknown;

export interface Unknown {
  readonly known: false;
  readonly why: string;
  /** The object exists, but its content is invalid: reading it again does not help. */
  readonly unreadable?: true;
}

/** Thrown by a read that fails until a person repairs the object. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

export const known = <T>(v: T): Known<T> => ({ known: true, v });
export const unknown = <T = never>(why: string): Known<T> => ({ known: false, why });
