import { createHmac } from 'node:crypto';

/** A line of a known_hosts file that is about the host asked for. */
export interface KnownHost {
  readonly revoked: boolean;
  /** The public key as SSH sends it. */
  readonly key: Buffer;
}

/** The lines of a known_hosts file for one server. Certificate authorities are left out: only keys are compared. */
export function knownHosts(text: string, host: string, port: number): KnownHost[] {
  const lines = text.split(/\r?\n/).flatMap(parseLine);
  const withPort = linesFor(lines, port === 22 ? host : `[${host}]:${port}`);
  const trusted = withPort.some(({ revoked }) => !revoked);
  // As ssh does: a name without a port stands for every port that has no line of its own.
  return port === 22 || trusted ? withPort : [...withPort, ...linesFor(lines, host)];
}

interface Line extends KnownHost {
  readonly names: string;
}

function parseLine(line: string): Line[] {
  const words = line.trim().split(/\s+/);
  const marker = words[0]?.startsWith('@') ? words.shift() : undefined;
  const [names, type, key] = words;
  if (!names || names.startsWith('#') || !type || !key || marker === '@cert-authority') return [];
  return [{ names, revoked: marker === '@revoked', key: Buffer.from(key, 'base64') }];
}

function linesFor(lines: readonly Line[], host: string): KnownHost[] {
  return lines.filter(({ names }) => isAbout(names, host.toLowerCase())).map(({ revoked, key }) => ({ revoked, key }));
}

function isAbout(names: string, host: string): boolean {
  if (names.startsWith('|1|')) return isHashOf(names, host);
  const patterns = names.toLowerCase().split(',');
  const matches = (pattern: string) => patternOf(pattern).test(host);
  const excluded = patterns.some((pattern) => pattern.startsWith('!') && matches(pattern.slice(1)));
  return !excluded && patterns.some(matches);
}

function isHashOf(names: string, host: string): boolean {
  const [, , salt = '', hash = ''] = names.split('|');
  return createHmac('sha1', Buffer.from(salt, 'base64')).update(host).digest('base64') === hash;
}

function patternOf(pattern: string): RegExp {
  const literal = pattern.replaceAll(/[.+^$(){}|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal.replaceAll('*', '.*').replaceAll('?', '.')}$`);
}
