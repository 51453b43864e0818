import * as z from 'zod/mini';

// Without a locale zod/mini says no more than that something is invalid.
z.config(z.locales.en());

/** The first thing that a schema finds wrong, on one line. */
export function describeIssue(error: z.core.$ZodError): string {
  const [issue] = error.issues;
  const path = issue?.path.join('.');
  return `${path ? `${path}: ` : ''}${issue?.message ?? 'not valid'}`;
}
