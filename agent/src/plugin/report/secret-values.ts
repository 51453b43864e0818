import type { Secret } from '../../kube/objects.ts';
import { withoutEscapes } from './escapes.ts';
import { type KnownSecrets, ourContainers } from './redact.ts';
import { publicKey, type Value, valuesWithin } from './values-within.ts';

/** Shorter values stand in other words too, so they are masked only as whole words. */
const long = 8;

/** Shorter values stand everywhere, and are no secret. */
const shortest = 4;

/** Without these words, nobody could read the report. */
const plainWords: ReadonlySet<unknown> = new Set([...ourContainers, 'true', 'false', 'null', 'none']);

/**
 * What to mask of the values of Secrets, and of what is within them. Of long ones each form, as a whole and line by line, the
 * longest first. `names`: what is called so is masked nowhere.
 */
export function valuesOf(secrets: readonly Secret[], names: readonly string[]): KnownSecrets {
  const entries = secrets.flatMap(({ data }) => Object.entries(data ?? {}));
  const files = entries.map(([key, value]) => {
    const all = Buffer.from(value, 'base64').toString();
    const text = withoutCertificates(all);
    return { key, text, whole: text === all ? [value] : [] };
  });
  const values = files.flatMap((file): Value[] => [file, ...valuesWithin(file)]);
  const texts = unique(values.flatMap(({ text }) => [text, ...linesOf(text)]));
  const isLong = (text: string): boolean => text.length >= long && !names.includes(text);
  const forms = texts.filter(isLong).flatMap(formsOf);
  const words = values
    .filter(({ key }) => !publicKey.test(key))
    .map(({ text }) => text.trim())
    .filter((text) => text.length >= shortest && text.length < long && !text.includes('\n') && !plainWords.has(text))
    .filter((text) => !names.includes(text));
  return [
    ...unique([...files.flatMap(({ whole }) => whole.filter(isLong)), ...forms]).sort((a, b) => b.length - a.length),
    ...texts.filter(isLong).flatMap(inBase64),
    ...unique(words.flatMap((text) => [text, withoutEscapes(text).text])).map(asWord),
  ];
}

/** Escapes are taken from the text in which these are sought. */
function formsOf(text: string): string[] {
  const plain = withoutEscapes(text).text;
  const hex = Buffer.from(text).toString('hex');
  return [text, plain, plain.replaceAll(' ', '+'), hex, hex.toUpperCase()];
}

/** Wherever it begins and ends within the bytes of which a base64 is, in both alphabets, with the characters that it shares. */
const inBase64 = (text: string): RegExp[] =>
  [0, 1, 2].map((before) => {
    const encoded = Buffer.from(`${' '.repeat(before)}${text}`).toString('base64');
    const own = encoded.slice(before === 0 ? 0 : before + 1).replace(/(?:.==|.=)$/, '');
    // The beginning is enough, and a pattern of any length is not.
    const pattern = own.slice(0, 64).replaceAll('+', '[+-]').replaceAll('/', '[/_]');
    return new RegExp(`${before === 0 ? '' : '[\\w+/-]'}${pattern}[\\w+/-]*={0,2}`, 'g');
  });

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
