import * as z from 'zod/mini';

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

// Sets the default messages for users. A message in the schema itself takes precedence.
z.config({ localeError: textOf });

/** First problem that a schema has found, on one line. */
export function describeIssue({ issues: [issue] }: z.core.$ZodError): string {
  if (!issue) return 'is not valid';
  const { path, message } = narrowest(issue);
  return path.length > 0 ? `${path.join('.')}: ${message}` : message;
}

/** For a value that may have several types: the problem within the type that the value has. */
function narrowest(issue: z.core.$ZodIssue): Pick<z.core.$ZodIssue, 'path' | 'message'> {
  const meant = issue.code === 'invalid_union' ? issue.errors.find((errors) => !isOtherType(errors)) : undefined;
  if (!meant?.[0]) return issue;
  const { path, message } = narrowest(meant[0]);
  return { path: [...issue.path, ...path], message };
}

const isOtherType = ([first]: readonly z.core.$ZodIssue[]) => first?.code === 'invalid_type' && first.path.length === 0;

function textOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.input === undefined) return 'is missing';
      const expected = `must be ${kinds[issue.expected] ?? issue.expected}`;
      return issue.expected === 'int' && typeof issue.input === 'number'
        ? expected
        : `${expected}, not ${kindOf(issue.input)}`;
    }
    case 'invalid_union': {
      const expected = issue.errors.flatMap(([first]) =>
        first?.code === 'invalid_type' ? [kinds[first.expected] ?? first.expected] : [],
      );
      return `must be ${expected.join(' or ')}, not ${kindOf(issue.input)}`;
    }
    case 'unrecognized_keys': {
      const fields = Object.keys((issue.inst as { def?: { shape?: object } } | undefined)?.def?.shape ?? {});
      return `unknown field ${issue.keys.join(', ')}${fields.length > 0 ? `; known: ${fields.join(', ')}` : ''}`;
    }
    case 'too_small':
      return issue.origin === 'string' && issue.minimum === 1
        ? 'must not be empty'
        : `must ${sizeOf(issue.origin, `at least ${issue.minimum}`)}`;
    case 'too_big':
      return `must ${sizeOf(issue.origin, `at most ${issue.maximum}`)}`;
    case 'invalid_value':
      return `must be ${issue.values.join(' or ')}`;
    case 'invalid_key':
      return issue.issues[0]?.message ?? 'is not a valid name';
    default:
      return 'is not valid';
  }
}

const sizeOf = (origin: string, size: string): string =>
  origin === 'string' ? `have ${size} characters` : origin === 'array' ? `have ${size} entries` : `be ${size}`;

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return kinds.array!;
  return value === null || typeof value === 'boolean' ? String(value) : (kinds[typeof value] ?? typeof value);
}
