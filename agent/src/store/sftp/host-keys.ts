import { createHash } from 'node:crypto';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { SftpSpec } from '../spec.ts';
import { KEY_TYPES } from './algorithms.ts';
import { knownHosts } from './known-hosts.ts';

/** Where host keys can come from, and what it is called. */
export interface KnownHostsText {
  readonly name: string;
  readonly text: string;
}

/** `SHA256:…`, as ssh-keygen and ssh write it. */
export const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;

/** `ssh-ed25519`, `ssh-rsa`, …: the first field of a public key. */
export function keyTypeOf(key: Buffer): string {
  return key.length < 4 ? '' : key.toString('latin1', 4, 4 + key.readUInt32BE(0));
}

/** Which keys a server may show, as far as they were given. */
export class HostKeys {
  /** What is named when the key is another one. */
  readonly source: string;
  /** The types of the keys that we have; undefined when only a fingerprint is known. */
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

  /** Refuses to go on without a key: whoever answers could read and change every snapshot. */
  static of(spec: SftpSpec, known: KnownHostsText | undefined): HostKeys {
    if (spec.hostKey) return new HostKeys('hostKey', [pinned(spec.hostKey)]);
    const port = spec.port ?? 22;
    const remedy = `run ssh-keyscan -p ${port} ${spec.host}, compare the fingerprint with what the server's owner says`;
    if (!known) {
      const where =
        'put the line into the Secret as knownHosts, or into knownHostsFile, or the fingerprint into hostKey';
      throw mistake(spec, `no host key is given; ${remedy}, and ${where}`);
    }
    const found = knownHosts(known.text, spec.host, port);
    const trusted = found.filter(({ revoked }) => !revoked).map(({ key }) => key);
    if (trusted.length === 0) {
      throw mistake(spec, `${known.name} has no key of ${spec.host}, port ${port}; ${remedy}, and add the line`);
    }
    if (!trusted.some((key) => KEY_TYPES.includes(keyTypeOf(key)))) {
      throw mistake(spec, `${known.name} has only ${keyTypeOf(trusted[0]!)}, which is not supported; ${remedy}`);
    }
    const revoked = found.filter((line) => line.revoked).map(({ key }) => key);
    return new HostKeys(known.name, trusted, revoked);
  }

  /** What is wrong with the key that the server shows; undefined when it is one of ours. */
  problemOf(key: Buffer): string | undefined {
    const fingerprint = fingerprintOf(key);
    const shown = `${fingerprint} (${keyTypeOf(key)})`;
    if (this.#revoked.has(fingerprint)) {
      return `the host key ${shown} is revoked in ${this.source}; do not use this server before its key was renewed`;
    }
    if (this.#fingerprints.has(fingerprint)) return undefined;
    const expected = [...this.#fingerprints].join(' or ');
    const meaning = 'the server was set up anew, or somebody else answers in its place';
    return `the host key has changed: expected ${expected} as in ${this.source}, got ${shown}; ${meaning}; change ${this.source} only when you know that it is right`;
  }
}

function pinned(hostKey: string): Buffer | string {
  if (hostKey.startsWith('SHA256:')) return hostKey.replace(/=+$/, '');
  return Buffer.from(hostKey.split(/ +/)[1]!, 'base64');
}

const mistake = ({ host }: SftpSpec, why: string) => new AgentError(ExitCode.usage, `sftp: host ${host}: ${why}`);
