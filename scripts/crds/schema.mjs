// Helpers that build the OpenAPI schemas of the custom resources.

/** Fields whose names end in `!` are required. */
export function object(description, fields, more = {}) {
  const names = Object.keys(fields);
  const required = names.filter((name) => name.endsWith('!')).map((name) => name.slice(0, -1));
  const properties = Object.fromEntries(names.map((name) => [name.replace('!', ''), fields[name]]));
  return { type: 'object', description, ...(required.length > 0 && { required }), properties, ...more };
}

const typeName = Symbol('type');

/** Gives a schema a name in the generated types. */
export const named = (name, schema) => ({ ...schema, [typeName]: name });
export const nameOf = (schema) => schema[typeName];

/** In the place of this schema, JSON Schemas have the whole one. */
export const whole = Symbol('whole');

/** A pattern of the keys of a map, which a definition cannot have. JSON Schemas do, and with them the constructs and `render`. */
export const keys = Symbol('keys');

const assumed = Symbol('assumed');

/**
 * Gives a field a default that the API server does not fill in, in contrast to `default`: what reads the field takes the value
 * from src/resource/defaults.ts. `says` is the value in words.
 */
export const withDefault = (value, schema, says = String(value)) => ({
  ...schema,
  description: `${schema.description} Default: ${says}.`,
  [assumed]: value,
});
export const defaultOf = (schema) => schema.default ?? schema[assumed];

// Every string has a maximum length: without it the API server cannot estimate the cost of a rule, and refuses the
// rule.
export const text = (description, maxLength = 1024, more = {}) => ({ type: 'string', description, maxLength, ...more });
export const choice = (description, values, more = {}) => ({ type: 'string', description, enum: values, ...more });
export const flag = (description, more = {}) => ({ type: 'boolean', description, ...more });
export const integer = (description, minimum, maximum, more = {}) => ({
  type: 'integer',
  description,
  ...(maximum === undefined ? { format: 'int64' } : { format: 'int32', maximum }),
  ...(minimum !== undefined && { minimum }),
  ...more,
});
export const time = (description) => ({ type: 'string', format: 'date-time', description });
export const list = (description, items, minItems, maxItems, more = {}) => ({
  type: 'array',
  description,
  ...(minItems > 0 && { minItems }),
  maxItems,
  items,
  ...more,
});
export const mapBy = (...keys) => ({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });
export const set = { 'x-kubernetes-list-type': 'set' };

/** Validation rules in CEL, each with the message for a violation. */
export const rules = (...all) => ({
  // The API server leaves out an empty list, and every client-side apply would write it again.
  ...(all.length > 0 && {
    'x-kubernetes-validations': all.map(([rule, message, more]) => ({ rule, message, ...more })),
  }),
});
/** CEL expression: exactly one of the fields is set. */
export const oneOf = (...fields) => `[${fields.map((field) => `has(self.${field})`).join(', ')}].exists_one(x, x)`;

/** A string that must match a regular expression (RE2). */
export const matching = (description, maxLength, pattern, message) =>
  text(description, maxLength, rules([`self.matches(${cel(pattern)})`, message]));

/** CEL has isCIDR only since Kubernetes 1.31. */
export const cidr = (description) =>
  matching(
    description,
    43,
    /^(((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])[.]){3}(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\/([0-9]|[12][0-9]|3[0-2])|[0-9a-fA-F:]*:[0-9a-fA-F:]*\/([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8]))$/,
    'is not a valid range of addresses: write it like 10.0.0.0/8',
  );

/** A regular expression as a CEL string. */
const cel = (pattern) => `r'${pattern.source.replaceAll('\\/', '/')}'`;

export const secretName = (description) => objectName(description, 'Secret');
const article = (kind) => (/^[AEIOU]/.test(kind) ? 'an' : 'a');
export const objectName = (description, kind) =>
  matching(
    description,
    253,
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    `is not a valid name of ${article(kind)} ${kind}: use lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit`,
  );

export const namespaceName = (description) =>
  matching(
    description,
    63,
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
    "is not a valid namespace: use lower-case letters, digits and '-', beginning and ending with a letter or digit",
  );

export const clusterName = (description) =>
  matching(
    description,
    50,
    /^[a-z]([-a-z0-9]*[a-z0-9])?$/,
    "is not a valid name of an EtcdCluster: use lower-case letters, digits and '-', beginning with a letter and ending with a letter or digit",
  );

const isDuration = "self.matches(r'^([0-9]+([.][0-9]+)?(ms|s|m|h|d|w))+$')";

/** A duration that may be zero. */
export const durationOrZero = (description) =>
  text(description, 32, rules([isDuration, 'is not a valid duration: write 30m, 24h or 7d, or 0s for none']));

export const duration = (description) =>
  text(
    description,
    32,
    rules([`${isDuration} && self.matches('[1-9]')`, 'is not a valid duration above zero: write 90s, 5m, 24h or 30d']),
  );

export const sha256 = (description) =>
  matching(description, 64, /^[0-9a-f]{64}$/, 'is not a valid SHA-256: write its 64 hexadecimal digits in lower case');

const odd = String.raw`(^|/)[.]{1,2}(/|$)|[\x00-\x1f\x7f-\x9f]`;
/** CEL expression: a path without '.', '..' and control characters. */
export const isPlain = `!self.matches(r'${odd}')`;
/** CEL expression: the same, and no segment is empty. */
export const isPath = `!self.matches(r'(^|/)(/|$)|${odd}')`;

/** A file or directory of a node. */
export const hostPath = (description) =>
  text(
    description,
    1024,
    rules([
      String.raw`self.matches(r'^(/[\w.+@-]+)+$') && ${isPlain}`,
      "is not an absolute path on a node: write it like /var/lib/etcd, without '.', '..' or a slash at the end",
    ]),
  );

/** A folder within a store. */
export const folder = (description) =>
  text(
    description,
    512,
    rules([
      isPath,
      "is not a valid folder within the store: write it like etcd/eu, without '/' at the ends, '.' or '..'",
    ]),
  );

/** An object within a store. */
export const objectKey = (description) =>
  text(
    description,
    512,
    rules([
      isPath,
      "is not a valid key of an object: write it like etcd/orders.db, without '/' at the ends, '.' or '..'",
    ]),
  );

export const timeZone = (description) =>
  matching(
    description,
    64,
    /^[A-Z][A-Za-z0-9_+-]*(\/[A-Z][A-Za-z0-9_+-]*)*$/,
    'is not an IANA time zone: write it like Europe/Berlin or Etc/UTC',
  );
