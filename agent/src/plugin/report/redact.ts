import { withoutEscapes } from './escapes.ts';
import { nameField, secretField, secretOrReference, words } from './secret-field.ts';

/** What stands for everything that is or may be secret. */
export const leftOut = '(left out)';

/** Annotations whose values are known to be harmless. Others may hold anything, such as a whole applied object. */
const keptAnnotations =
  /^(cdk8s-etcd\.dev\/|kubectl\.kubernetes\.io\/(restartedAt|default-container)$|deployment\.kubernetes\.io\/revision$)/;

/** Variables that our manifests set. Others may hold credentials. */
const keptVariables: ReadonlySet<unknown> = new Set(['ETCD_VERSION', 'MIN_EPOCH']);

/** Containers of our manifests. The arguments of others may have credentials that look like none. */
export const ourContainers: ReadonlySet<unknown> = new Set(['gate', 'agent', 'etcd', 'reconciler', 'backup']);

/** A flag whose value follows, such as `--api-token`, `--pass` and `-u`. */
const secretFlag = `-u|--?[\\w-]{0,40}(?:${words})[\\w-]{0,40}|--?(?:[\\w-]{1,40}-)?pass|--(?:proxy-)?user`;

/** Ends a value: the next field follows. */
const next = String.raw`(?!(?:[,;]\s+[\w-]+["']?\s*[:=]|[&;][\w.-]+=))`;

/** Within a value. A quote ends it only where a string of JSON would end. */
const characters = String.raw`\\.|"(?!\\?["\s,}\]]|$)`;

/** Texts that are secret wherever they are. What is in the first group stays. The limits keep a long text fast. */
const secretTexts: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /AGE-SECRET-KEY-1[0-9A-Z]+/gi,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b(?:[/:]\S+)?/g,
  /\bLTAI[0-9A-Za-z]{12,}/g,
  /\b(?:gh[a-z]_|github_pat_|glpat-|xox[a-z]-|sk-|npm_|hv[sbr]\.|AIza)[\w-]{16,}/g,
  /((?:bearer|basic)\s+)[\w.~+/=-]{6,}/gi,
  // A password may contain `/` and `@`.
  /(:\/\/)[^\s/@:"']{0,256}:[^\s"']{0,256}(?=@)/g,
  /(:\/\/)[^\s/@"']{1,512}(?=@)/g,
  // Without a scheme, as in the names of databases. The digest of an image is none.
  /((?:^|[\s"'=(])[^\s/@:"'=]{1,256}:)[^\s"'/][^\s"']{0,256}(?=@(?!sha256:))/gm,
  new RegExp(`((?:${words})[\\w-]{0,40}\\\\?["']?\\s*[=:]\\s*\\\\?")(?:\\\\.|[^"\\\\])*`, 'gi'),
  new RegExp(`((?:${words})[\\w-]{0,40}["']?\\s*[=:]\\s*)'(?:\\\\.|[^'\\\\\\n])*'(?![^\\s,;})\\]])`, 'gi'),
  // A block of YAML.
  new RegExp(`((?:${words})[\\w-]{0,40}["']?\\s*:[ \\t]*[|>][+-]?\\d?[ \\t]*\\n)(?:[ \\t]+[^\\n]*\\n?)+`, 'gi'),
  // The value of a colon may have several words, the value of an equals sign has one.
  new RegExp(`((?:${words})[\\w-]{0,40}\\\\?["']?\\s*:\\s*\\\\?["']?)(?:${next}(?:${characters}|[^"\\\\\\n]))+`, 'gim'),
  new RegExp(`((?:${words})[\\w-]{0,40}\\\\?["']?\\s*=\\s*\\\\?["']?)(?:${next}(?:${characters}|[^"\\\\\\s]))+`, 'gim'),
  new RegExp(`((?:set-)?cookie\\\\?["']?\\s*[=:]\\s*\\\\?["']?)(?:${characters}|[^"\\\\\\n])+`, 'gim'),
  /(\b_?auth\\?["']?\s*[=:]\s*\\?["']?)[\w+/-]{8,}={0,2}/gi,
  /(\b(?:pass|sig)["']?\s*[=:]\s*["']?)[^\s"',;&}]+/gi,
  new RegExp(`((?<![\\w-])(?:${secretFlag})[=\\s]+["']?)[^\\s"']+`, 'gi'),
  /((?<![\w-])-u)[^\s:"'-][^\s:"']*:[^\s"']+/g,
  /(\b(?:password|passwd|passphrase|pwd)\s+)(?:"(?:\\.|[^"\\\n])*"|'[^'\n]*')/gi,
  /(\b(?:password|passwd|passphrase|pwd)\s+["']?)[^\s"',;&}]+/gi,
  // In words of Kubernetes, a name follows in quotes, and `Secret` is a kind.
  /(\bsecret\s+)(?=[^\s"',;&}]*\d)[^\s"',;&}]{6,}/g,
  new RegExp(`(<(?:[\\w-]{1,40}:)?[\\w-]{0,40}(?:${words})[\\w-]{0,40}(?:\\s[^<>]{0,200})?>)[^<]+`, 'gi'),
  /(\bsshpass\s+-p\s*)\S+/g,
  /(\bmc\s+(?:alias|config host)\s+(?:set|add)\s+\S+\s+\S+\s+)\S+\s+\S+/g,
];

/** Secrets that are known. */
export type KnownSecrets = readonly (string | RegExp)[];

/** Removes secrets from a text: those that are known, and what looks like one. */
export function redactText(text: string, known: KnownSecrets = []): string {
  const withoutKnown = known.reduce<string>((rest, secret) => rest.replaceAll(secret, leftOut), text);
  const withoutLikely = secretTexts.reduce(
    (rest, pattern) =>
      rest.replaceAll(pattern, (_, kept: unknown) => `${typeof kept === 'string' ? kept : ''}${leftOut}`),
    withoutKnown,
  );
  return withoutEscaped(withoutLikely, known);
}

/** Removes what is seen only without escapes. All others stay. */
function withoutEscaped(text: string, known: KnownSecrets): string {
  const plain = withoutEscapes(text);
  if (plain.text === text) return text;
  const places = [...known, ...secretTexts]
    .flatMap((secret) => placesOf(secret, plain.text))
    .map(([from, to]) => [plain.at[from]!, plain.at[to]!] as const)
    .sort(([a], [b]) => a - b);
  let rest = '';
  let end = 0;
  for (const [from, to] of places) {
    if (from >= end) rest += text.slice(end, from) + leftOut;
    end = Math.max(end, to);
  }
  return rest + text.slice(end);
}

/** Beginning and end of each place of a secret. */
function placesOf(secret: string | RegExp, text: string): (readonly [number, number])[] {
  const places: (readonly [number, number])[] = [];
  if (typeof secret === 'string')
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length))
      places.push([at, at + secret.length]);
  else
    for (const { index, 0: all, 1: kept = '' } of text.matchAll(secret))
      if (!text.startsWith(leftOut, index + kept.length)) places.push([index + kept.length, index + all.length]);
  return places;
}

/** Whether the next argument is the value of a flag. */
const isSecretFlag = (before: unknown): boolean =>
  typeof before === 'string' && new RegExp(`^(?:${secretFlag}|--?[\\w-]*key[\\w-]*)$`, 'i').test(before);

/** Removes secrets from an object of the API server, or from a part of one. */
export const redact = (value: unknown, known: KnownSecrets = []): unknown => redactIn('', value, known);

/** `above`: the field with the value, or with the list that has it. */
function redactIn(above: string, value: unknown, known: KnownSecrets): unknown {
  if (typeof value === 'string') return redactText(value, known);
  if (Array.isArray(value))
    return value.map((each, index) => (isSecretFlag(value[index - 1]) ? leftOut : redactIn(above, each, known)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field]) => field !== 'managedFields')
      .map(([field, inner]) => [field, redactField(above, field, inner, known)]),
  );
}

function redactField(above: string, field: string, value: unknown, known: KnownSecrets): unknown {
  if (field === 'annotations') return onlyKeys(value, (name) => keptAnnotations.test(name), known);
  if (['data', 'stringData', 'binaryData'].includes(field)) return onlyKeys(value, () => false, known);
  if (/containers$/i.test(field) && Array.isArray(value)) return value.map((each) => container(each, known));
  if (field === 'httpHeaders' && Array.isArray(value)) return value.map((each) => variable(each, known));
  if (field === 'env')
    return Array.isArray(value) ? value.map((each) => variable(each, known)) : onlyKeys(value, () => false, known);
  if (nameField.test(`${above}.${field}`)) return redactIn(field, value, known);
  const isSecret =
    secretField.test(field) ||
    (secretOrReference.test(field) && [value].flat().every((each) => typeof each === 'string'));
  return isSecret ? withoutValues(value) : redactIn(field, value, known);
}

/** Keeps the fields, and the name of a Secret. */
function withoutValues(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutValues);
  if (typeof value === 'string' || typeof value === 'number') return leftOut;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => [field, field === 'secretName' ? inner : withoutValues(inner)]),
  );
}

/** Keeps the names, and the values of which `keeps` is true. */
function onlyKeys(value: unknown, keeps: (name: string) => boolean, known: KnownSecrets): unknown {
  if (typeof value !== 'object' || value === null) return leftOut;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, keeps(name) ? redact(inner, known) : leftOut]),
  );
}

function variable(entry: unknown, known: KnownSecrets): unknown {
  if (typeof entry !== 'object' || entry === null) return leftOut;
  const { value, ...rest } = entry as { name?: unknown; value?: unknown };
  if (value === undefined) return redact(rest, known);
  return { ...(redact(rest, known) as object), value: keptVariables.has(rest.name) ? redact(value, known) : leftOut };
}

function container(value: unknown, known: KnownSecrets): unknown {
  const isOurs = ourContainers.has((value as { name?: unknown } | null)?.name);
  return redact(isOurs ? value : withoutArguments(value), known);
}

/** Leaves out the values of every command, also those of probes. */
function withoutArguments(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutArguments);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => [field, hidden.has(field) ? leftOut : withoutArguments(inner)]),
  );
}

const hidden: ReadonlySet<string> = new Set(['args', 'command', 'env']);
