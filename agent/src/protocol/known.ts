/** Something observed: a failed read says why, and is never taken for "there is none". */
export type Known<T> = { readonly known: true; readonly v: T } | Unknown;

export interface Unknown {
  readonly known: false;
  readonly why: string;
  /** It is there, and reading it again brings nothing else. */
  readonly unreadable?: true;
}

/** What a read throws that will not get better by itself. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

export const known = <T>(v: T): Known<T> => ({ known: true, v });
export const unknown = <T = never>(why: string): Known<T> => ({ known: false, why });
