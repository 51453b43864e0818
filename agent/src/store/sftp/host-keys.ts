import { createHash, createHmac } from 'node:crypto';
import { defaults } from '../../../../src/resource/defaults.ts';
import { usageError } from '../../lib/errors.ts';
import type { SftpSpec } from '../spec.ts';

const ECDSA = ['ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521'];
/** Supported types of host keys. DSA is not supported. */
export const KEY_TYPES: readonly string[] = ['ssh-ed25519', ...ECDSA, 'ssh-rsa'];

/** A file with known hosts. */
export interface KnownHostsText {
  /** Name of the file, for messages. */
  readonly name: string;
  readonly text: string;
}

/** Fingerprint in the form of ssh-keygen and ssh: `SHA256:…`. */
export const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;

/** Characters. No type of a key is longer. */
const LONGEST_TYPE = 64;

/**
 * Type of a public key, its first field: `ssh-ed25519`, `ssh-rsa`, … Empty if the key is too short. A server may show any
 * bytes as its key, and messages contain the type.
 */
export function keyTypeOf(key: Buffer): string {
  if (key.length < 4) return '';
  const length = Math.min(key.readUInt32BE(0), LONGEST_TYPE);
  return key.toString('latin1', 4, 4 + length).replaceAll(/[^!-~]/g, '?');
}

/** Host keys that are accepted from the server. */
export class HostKeys {
  /** Where the keys come from, for messages. */
  readonly source: string;
  /** Types of the known keys; undefined if only a fingerprint is known. */
  readonly types: readonly string[] | undefined;
  readonly #fingerprints: ReadonlySet<string>;
  readonly #revoked: ReadonlySet<string>;

  private constructor(source: string, trusted: readonly (Buffer | string)[], revoked: readonly Buffer[] = []) {
    const keys = trusted.filter((key) => typeof key !== 'string');
    this.source = source;
    this.types = keys.length === trusted.length ? [...new Set(keys.map(keyTypeOf))] : undefined;
    this.#fingerprints = new Set(trusted.map((key) => (typeof key === 'string' ? key : fingerprintOf(key))));
    this.#revoked = new Set(revoked.map(fingerprintOf));
  }

  /** Throws a usage error without a key: an impostor could then read and change every snapshot. */
  static of(spec: SftpSpec, known: KnownHostsText | undefined): HostKeys {
    if (spec.hostKey) return new HostKeys('hostKey', [pinned(spec.hostKey)]);
    const port = spec.port ?? defaults.SftpStoreSpec.port;
    const remedy = `run ssh-keyscan -p ${port} ${spec.host}, compare the fingerprint with the one that the server's owner gives you`;
    if (!known) {
      const where =
        'put the line into the Secret as knownHosts, or into knownHostsFile, or the fingerprint into hostKey';
      throw usageError(`sftp: host ${spec.host}: no host key is given; ${remedy}, and ${where}`);
    }
    const found = knownHosts(known.text, spec.host, port);
    const trusted = found.filter(({ revoked }) => !revoked).map(({ key }) => key);
    if (trusted.length === 0) {
      throw usageError(
        `sftp: host ${spec.host}: ${known.name} has no key of ${spec.host}, port ${port}; ${remedy}, and add the line`,
      );
    }
    if (!trusted.some((key) => KEY_TYPES.includes(keyTypeOf(key)))) {
      throw usageError(
        `sftp: host ${spec.host}: ${known.name} has only ${keyTypeOf(trusted[0]!)}, which is not supported; ${remedy}`,
      );
    }
    const revoked = found.filter((line) => line.revoked).map(({ key }) => key);
    return new HostKeys(known.name, trusted, revoked);
  }

  /** Describes what is wrong with the key that the server shows; undefined if the key is accepted. */
  problemOf(key: Buffer): string | undefined {
    const fingerprint = fingerprintOf(key);
    const shown = `${fingerprint} (${keyTypeOf(key)})`;
    if (this.#revoked.has(fingerprint)) {
      return `the host key ${shown} is revoked in ${this.source}; do not use this server until its key is renewed`;
    }
    if (this.#fingerprints.has(fingerprint)) return undefined;
    const expected = [...this.#fingerprints].join(' or ');
    const meaning = 'the server was reinstalled, or another machine answers in its place';
    return `the host key has changed: expected ${expected} as in ${this.source}, got ${shown}; ${meaning}; change ${this.source} only if you have verified the new key`;
  }
}

function pinned(hostKey: string): Buffer | string {
  if (hostKey.startsWith('SHA256:')) return hostKey.replace(/=+$/, '');
  return Buffer.from(hostKey.split(/ +/)[1]!, 'base64');
}

/** A line of a known_hosts file that applies to the requested host. */
export interface KnownHost {
  readonly revoked: boolean;
  /** The public key in SSH's wire format. */
  readonly key: Buffer;
}

/**
 * Finds the lines of a known_hosts file for one server. Skips certificate authorities, because only keys are
 * compared.
 */
export function knownHosts(text: string, host: string, port: number): KnownHost[] {
  const lines = text.split(/\r?\n/).flatMap(parseLine);
  const withPort = linesFor(lines, port === 22 ? host : `[${host}]:${port}`);
  const trusted = withPort.some(({ revoked }) => !revoked);
  // Same rule as in ssh: a name without a port applies to every port that has no line of its own.
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
  return lines
    .filter(({ names }) => appliesTo(names, host.toLowerCase()))
    .map(({ revoked, key }) => ({ revoked, key }));
}

function appliesTo(names: string, host: string): boolean {
  if (names.startsWith('|1|')) return isHashOf(names, host);
  const patterns = names.toLowerCase().split(',');
  const matches = (pattern: string) => isMatch(pattern, host);
  const excluded = patterns.some((pattern) => pattern.startsWith('!') && matches(pattern.slice(1)));
  return !excluded && patterns.some(matches);
}

function isHashOf(names: string, host: string): boolean {
  const [, , salt = '', hash = ''] = names.split('|');
  return createHmac('sha1', Buffer.from(salt, 'base64')).update(host).digest('base64') === hash;
}

/** `*` stands for any text, `?` for one character. A regular expression takes hours for many stars. */
function isMatch(pattern: string, host: string): boolean {
  let [at, star, retry] = [0, -1, 0];
  for (let from = 0; from < host.length; ) {
    if (pattern[at] === '*') [star, retry, at] = [at, from, at + 1];
    else if (pattern[at] === '?' || pattern[at] === host[from]) [at, from] = [at + 1, from + 1];
    else if (star >= 0) {
      // The last star takes one character more.
      retry++;
      [at, from] = [star + 1, retry];
    } else return false;
  }
  return /^\**$/.test(pattern.slice(at));
}
