/** Something observed: a failed read says why, and is never taken for "there is none". */
export type Known<T> = { readonly known: true; readonly v: T } | { readonly known: false; readonly why: string };

export const known = <T>(v: T): Known<T> => ({ known: true, v });
export const unknown = <T = never>(why: string): Known<T> => ({ known: false, why });
