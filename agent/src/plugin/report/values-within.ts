import { parseYaml } from '../../lib/input/yaml.ts';
import { secretField, secretOrReference } from './secret-field.ts';

/** A value with what it is called. */
export interface Value {
  readonly key: string;
  readonly text: string;
}

/** A file in a field of a file in an address is enough. */
const levels = 3;

/** What the file of a Secret has within it that is secret: of JSON, YAML, settings, addresses and logins. */
export function valuesWithin(file: Value, level = 1): Value[] {
  if (level > levels) return [];
  const found = [leavesOf, settingsOf, passwordsOf, loginOf]
    .flatMap((read) => read(file))
    .filter(({ text }) => text !== file.text);
  return [...found.filter(isSecret), ...found.flatMap((each) => valuesWithin(each, level + 1))];
}

/** Called secret, or not a word, a place or another setting that a report needs. */
const isSecret = ({ key, text }: Value): boolean =>
  !publicKey.test(key) &&
  (secretField.test(key) ||
    secretOrReference.test(key) ||
    (text.length >= 8 && !/^[\p{L}\s._/:@-]*$|^(?:\w+:)?\/\//u.test(text)));

/** Keys whose values are public, such as the user `root`. */
export const publicKey =
  /(^|[._-])(user(name)?|login|region|endpoint|host(name)?|server|ur[il]|bucket|address|port|e?mail|project[._-]?id)$/i;

function leavesOf({ key, text }: Value): Value[] {
  // What is neither is one text.
  if (!/[{[:]|^\s*-/m.test(text)) return [];
  try {
    return leaves(key, parseYaml(text));
  } catch {
    return [];
  }
}

function leaves(key: string, value: unknown): Value[] {
  if (typeof value === 'string' || typeof value === 'number') return [{ key, text: String(value) }];
  if (Array.isArray(value)) return value.flatMap((each) => leaves(key, each));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([field, inner]) => leaves(field, inner));
}

/** Right sides, as a whole and up to what may begin the next setting. */
const settingsOf = ({ text }: Value): Value[] => [
  ...[...text.matchAll(/([\w.-]+)["']?[ \t]*[=:][ \t]*(\S[^\n]*)/g)].map(asValue),
  ...[...text.matchAll(/([\w.-]+)["']?[ \t]*[=:][ \t]*(?=[^\s=:])("[^"\n]*"|'[^'\n]*'|[^\s;&,]+)/g)].map(asValue),
];

const asValue = ([, key = '', value = '']: RegExpMatchArray): Value => ({
  key,
  text: value.trim().replace(/^(["'])(.*)\1$/, '$2'),
});

/** Of addresses such as `postgres://ann:password@host`. */
const passwordsOf = ({ text }: Value): Value[] =>
  [...text.matchAll(/[^\s:@/"']:([^\s"']{1,256})@/g)].map(([, password = '']) => ({ key: 'password', text: password }));

/** `user:password` in base64, as a file for registries has it. */
function loginOf({ text }: Value): Value[] {
  if (!/^[\w+/-]{8,}={0,2}$/.test(text)) return [];
  const login = Buffer.from(text, 'base64').toString();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is not text has them
  const [, password] = /^[^\x00-\x1f\ufffd:]+:([^\x00-\x1f\ufffd]+)$/.exec(login) ?? [];
  return password === undefined ? [] : [{ key: 'password', text: password }];
}
