import type { ManagedTlsSpec } from '../../../../src/resource/types.ts';
import type { NamedManagedTls, NamedTls } from '../../../../src/tls/default-names.ts';
import type { Secret } from '../../kube/objects.ts';
import { type Known, known, unknown } from '../../protocol/known.ts';
import type { UserWish } from '../objects/user-object.ts';
import { contentOf } from './content.ts';
import { type CertificateDecision, type Circumstances, decide } from './decide.ts';
import type { CertificateFacts } from './facts.ts';
import { factsOf, type KnownAuthorities, type Secrets, textOf } from './read.ts';
import type { MemberReports } from './rotation.ts';
import { type AuthorityName, type LeafName, type WantedCertificates, wantedOf } from './wanted.ts';

export const day = 86_400_000;
export const begin = Date.parse('2026-01-01T00:00:00Z');

export type SecretName = AuthorityName | LeafName;

export const tls = (
  change: Partial<NamedManagedTls> = {},
  more: Partial<NamedTls> = {},
): NamedTls & { readonly managed: NamedManagedTls } => ({
  peerSecret: 'orders-peer-tls',
  serverSecret: 'orders-server-tls',
  clientSecret: 'orders-client-tls',
  ...more,
  managed: {
    peerAuthority: 'orders-peer-ca',
    clientAuthority: 'orders-client-ca',
    ...change,
  },
});

const more = { rootSecret: 'orders-root-tls', backupSecret: 'orders-backup-tls' };

/** With users, also the leaves of root and of backups. */
export const wanted = (change: Partial<ManagedTlsSpec> = {}, users?: readonly UserWish[]): WantedCertificates =>
  wantedOf('orders', 'shop', { tls: { ...tls(change), ...(users && more) } }, { wishes: users ?? [], since: 0 })!;

const secret = (name: string): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'shop', uid: name, resourceVersion: '1', creationTimestamp: '' },
});

/** What was read of Secrets, which never change: to verify every signature takes longer than all else. */
const read = new WeakMap<Secrets, { readonly had: KnownAuthorities; readonly facts: CertificateFacts }>();

function readOnce(secrets: Secrets, had: KnownAuthorities): CertificateFacts {
  const before = read.get(secrets);
  if (before?.had === had) return before.facts;
  const facts = factsOf(secrets, had);
  read.set(secrets, { had, facts });
  return facts;
}

/** What empty Secrets got at the beginning, by what was wanted: the same certificates serve every test of a file. */
const first = new Map<string, { readonly all: Secrets; readonly written: readonly string[] }>();
const nothingHad: KnownAuthorities = {};
const notAsked: MemberReports = unknown('nobody asked');

/** The Secrets of a cluster and its users, empty at first, and a clock. */
export class TestSecrets {
  now = begin;
  spec: WantedCertificates;
  all: Secrets;
  /** What the status says about the authorities. */
  had = nothingHad;
  /** Report of the members. */
  members = notAsked;
  readonly #empty: Secrets;

  constructor(change: Partial<ManagedTlsSpec> = {}, users?: readonly UserWish[]) {
    this.spec = wanted(change, users);
    const { authorities, leaves } = this.spec;
    const names = Object.entries({ ...authorities, ...leaves });
    this.all = Object.fromEntries(names.map(([key, name]) => [key, known(secret(name))])) as unknown as Secrets;
    this.#empty = this.all;
  }

  /** With every certificate. */
  static async filled(change: Partial<ManagedTlsSpec> = {}): Promise<TestSecrets> {
    const secrets = new TestSecrets(change);
    await secrets.settle();
    return secrets;
  }

  decide(around: Circumstances = {}): CertificateDecision {
    return decide(readOnce(this.all, this.had), this.spec, this.now, { members: this.members, ...around });
  }

  /** Follows each decision until there is none. Returns what was written. */
  async settle(): Promise<string[]> {
    const isFirst = this.all === this.#empty && this.had === nothingHad && this.members === notAsked;
    if (!isFirst) return this.#settleAnew();
    const key = JSON.stringify([this.now, this.spec]);
    const before = first.get(key);
    if (before) {
      this.all = before.all;
      return [...before.written];
    }
    const written = await this.#settleAnew();
    first.set(key, { all: this.all, written: [...written] });
    return written;
  }

  async #settleAnew(): Promise<string[]> {
    const written: string[] = [];
    for (let { write } = this.decide(); write; { write } = this.decide()) {
      if (written.length > 20) throw new Error(`never settles: ${written}`);
      written.push(`${write.make} ${write.of}: ${write.why}`);
      await this.step(write);
    }
    return written;
  }

  /** Makes the one write that is due. */
  async step(write = this.decide().write!): Promise<void> {
    this.put(
      write.of,
      known(await contentOf(write, { secrets: this.all, wanted: this.spec, now: this.now, had: this.had })),
    );
  }

  put(name: SecretName, found: Known<Secret | undefined>): this {
    this.all = { ...this.all, [name]: found };
    return this;
  }

  #of(name: SecretName): Known<Secret | undefined> {
    const found = this.all[name];
    if (!found) throw new Error(`the cluster has no Secret for ${name}`);
    return found;
  }

  /** Undefined: there is no such key. */
  bytes(name: SecretName, key: string): Buffer | undefined {
    const found = this.#of(name);
    const data = found.known ? found.v?.data?.[key] : undefined;
    return data === undefined ? undefined : Buffer.from(data, 'base64');
  }

  text(name: SecretName, key: string): string {
    const found = this.#of(name);
    return found.known && found.v ? textOf(found.v, key) : '';
  }

  /** Changes keys of a Secret; undefined removes one. */
  set(name: SecretName, texts: Record<string, string | undefined>): this {
    const found = this.#of(name);
    if (!found.known || !found.v) throw new Error(`there is no Secret ${name}`);
    const data: Record<string, string> = { ...found.v.data };
    for (const [key, text] of Object.entries(texts)) {
      if (text === undefined) delete data[key];
      else data[key] = Buffer.from(text).toString('base64');
    }
    return this.put(name, known({ ...found.v, data }));
  }

  empty(name: SecretName): this {
    const found = this.#of(name);
    return this.put(name, known({ ...(found.known ? found.v! : secret(name)), data: {} }));
  }

  annotate(name: SecretName, annotations: Record<string, string>): this {
    const found = this.#of(name);
    const { metadata, ...rest } = found.known ? found.v! : secret(name);
    return this.put(name, known({ ...rest, metadata: { ...metadata, annotations } }));
  }

  get reasons(): string[] {
    return this.decide().problems.map(({ reason }) => reason);
  }
}
