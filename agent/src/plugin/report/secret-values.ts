import type { Secret } from '../../kube/objects.ts';
import { type Known, ourContainers } from './redact.ts';

/** Shorter values stand in other words too, so they are masked only as whole words. */
const long = 8;

/** Shorter values stand everywhere, and are no secret. */
const shortest = 4;

/** Keys whose short values are public, such as the user `root`. */
const publicKey = /(^|[._-])(user(name)?|region)$/i;

/** Without these words, nobody could read the report. */
const plainWords: ReadonlySet<unknown> = new Set([...ourContainers, 'true', 'false', 'null', 'none']);

/**
 * What to mask of the values of Secrets. Of long ones each form, plain and encoded, as a whole and line by line, the longest
 * first. `names`: what is called so is masked nowhere.
 */
export function valuesOf(secrets: readonly Secret[], names: readonly string[]): Known {
  const entries = secrets.flatMap(({ data }) => Object.entries(data ?? {}));
  const plain = entries.map(([key, value]) => {
    const all = Buffer.from(value, 'base64').toString();
    const text = withoutCertificates(all);
    return { key, text, whole: text === all ? [value] : [] };
  });
  const texts = plain.flatMap(({ text }) => [text, ...linesOf(text)]);
  const forms = [...plain.flatMap(({ whole }) => whole), ...texts.flatMap(formsOf)];
  const words = plain
    .filter(({ key }) => !publicKey.test(key))
    .map(({ text }) => text.trim())
    .filter((text) => text.length >= shortest && text.length < long && !text.includes('\n') && !plainWords.has(text));
  const isNoName = (text: string): boolean => !names.includes(text);
  return [
    ...unique(forms.filter((text) => text.length >= long && isNoName(text))).sort((a, b) => b.length - a.length),
    ...unique(words.filter(isNoName)).map(asWord),
  ];
}

/** As logs and addresses have a text. */
function formsOf(text: string): string[] {
  if (text.length < long) return [text];
  const json = JSON.stringify(text).slice(1, -1);
  // Not of a text with half a surrogate pair, which binary data can have.
  const url = text.isWellFormed() ? encodeURIComponent(text) : text;
  const form = url.replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
  const bytes = Buffer.from(text);
  return [
    text,
    json,
    JSON.stringify(json).slice(1, -1),
    url,
    form,
    new URLSearchParams({ x: text }).toString().slice(2),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('hex'),
  ];
}

/** They are public, and there may be those of many authorities. */
const withoutCertificates = (text: string): string =>
  text.replaceAll(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g, '');

const linesOf = (text: string): string[] => [text.trim(), ...text.split('\n').map((line) => line.trim())];

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

/** Not within another word. A text that begins or ends with another character has its border there. */
function asWord(text: string): RegExp {
  const letter = '[\\p{L}\\p{N}]';
  const isLetter = (each = ''): boolean => new RegExp(`^${letter}$`, 'u').test(each);
  const before = isLetter(text.at(0)) ? `(?<!${letter})` : '';
  const after = isLetter(text.at(-1)) ? `(?!${letter})` : '';
  return new RegExp(`${before}${text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}${after}`, 'gu');
}
