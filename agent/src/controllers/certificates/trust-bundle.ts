import type { X509Certificate } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { trustKeys } from '../../../../src/etcd/trust-keys.ts';
import type { NamedTls } from '../../../../src/tls/default-names.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { isStatus } from '../../kube/api-error.ts';
import type { Secret } from '../../kube/objects.ts';
import { group, type Paths } from '../../kube/paths.ts';
import { certificatesIn, idOf } from '../../lib/certificates.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { LogOnce } from '../../lib/log-once.ts';
import type { Key, Queue, Result } from '../../lib/queue.ts';
import type { TrustReport } from '../port/observed.ts';
import type { AtPoint } from '../port/port.ts';
import type { ReconcilerSettings } from '../port/settings.ts';
import { textOf } from './read.ts';
import type { CertificatesSpec } from './wanted.ts';

export interface TrustBundleOptions {
  readonly client: Pick<ApiClient, 'get' | 'replace'>;
  readonly paths: Paths;
  readonly settings: Pick<ReconcilerSettings, 'certificatesGlance' | 'certificatesRetry' | 'backoffMin'>;
  readonly at: AtPoint;
  /** The report has changed. */
  readonly onChange: () => void;
  readonly follow: Queue['follow'];
  readonly log: Log;
}

/** The Secrets of both sources, that of the members first. */
interface Sources {
  readonly trustSecret: string;
  readonly peerSecrets: readonly string[];
  readonly serverSecrets: readonly string[];
  readonly clientSecrets: readonly string[];
}

function sourcesOf(tls: NamedTls | undefined): Sources | undefined {
  const other = tls?.alsoTrust;
  if (!other) return undefined;
  return {
    trustSecret: other.trustSecret,
    peerSecrets: [tls.peerSecret, other.peerSecret],
    serverSecrets: [tls.serverSecret, other.serverSecret],
    clientSecrets: [tls.clientSecret, other.clientSecret],
  };
}

/** The Secrets of peers whose authorities the Secret has, so that no pod starts with those of an earlier change. */
const ofAnnotation = `${group}/trusts`;

/**
 * Writes the authorities of both sources of certificates into one Secret, from which the pods take `ca.crt` while a cluster
 * changes from one source to the other. It is never written with fewer: a member that has started trusts what it read.
 */
export class TrustBundle {
  readonly #options: TrustBundleOptions;
  readonly #problem: LogOnce;
  #key: Key | undefined;
  #wanted: Sources | undefined;
  #isPaused = false;
  /** Of the last pass over what is wanted now. */
  #report: TrustReport | undefined;

  constructor(options: TrustBundleOptions) {
    this.#options = options;
    this.#problem = new LogOnce(options.log);
  }

  /** Follows a new spec, at once. */
  follow({ tls, paused = false }: CertificatesSpec): void {
    const wanted = sourcesOf(tls);
    if (isDeepStrictEqual([wanted, paused], [this.#wanted, this.#isPaused])) return;
    this.#wanted = wanted;
    this.#isPaused = paused;
    this.#report = undefined;
    this.#key?.now();
  }

  /** About a spec that may be newer than the one that is followed. */
  report(tls: NamedTls): TrustReport {
    const found = isDeepStrictEqual(sourcesOf(tls), this.#wanted) ? this.#report : undefined;
    return found ?? { isComplete: false };
  }

  run(): void {
    const { follow, settings } = this.#options;
    this.#key = follow({
      pass: () => this.#attempt(),
      failed: (error) => this.#note({ isComplete: this.#report?.isComplete ?? false, why: messageOf(error) }),
      backoff: [settings.backoffMin, settings.certificatesRetry],
    });
  }

  async #attempt(): Promise<Result> {
    const wanted = this.#wanted;
    const report = wanted && (await this.#pass(wanted));
    if (!report || wanted !== this.#wanted) return {};
    this.#note(report);
    return { again: report.why === undefined ? this.#options.settings.certificatesGlance : 'backoff' };
  }

  #note(report: TrustReport): void {
    const isNews = !isDeepStrictEqual(report, this.#report);
    this.#report = report;
    this.#problem.report('trust', report.why);
    if (isNews) this.#options.onChange();
  }

  async #pass(wanted: Sources): Promise<TrustReport> {
    const { client, paths } = this.#options;
    const bundle = await client.get<Secret>(paths.of('secrets', wanted.trustSecret));
    const [peer, server, ofClient] = await Promise.all(
      [wanted.peerSecrets, wanted.serverSecrets, wanted.clientSecrets].map((secrets) => this.#authorities(secrets)),
    );
    const trusts = wanted.peerSecrets.toSorted().join();
    const parts = { [trustKeys.peer]: peer!, [trustKeys.server]: server!, [trustKeys.client]: ofClient! };
    // The Secret of an earlier change may name the same sources, of which one has another authority since.
    const hasOwn = (key: keyof typeof parts) => isIn(parts[key]!.own, textOf(bundle, key));
    // Pods start with the certificates of the first source. If the other one has lost its own, the step before can be taken again.
    const isComplete = bundle.metadata.annotations?.[ofAnnotation] === trusts && keys.every(hasOwn);
    const why = [...new Set([peer, server, ofClient].flatMap((each) => each!.why))].join('; ');
    if (why !== '') {
      // Clients, backups and metrics do not wait for the other source.
      if (ofClient!.own !== undefined && !hasOwn(trustKeys.client) && !this.#isPaused) {
        const earlier = certificatesIn(textOf(bundle, trustKeys.client)) ?? [];
        const known = joined([...certificatesIn(ofClient!.own)!, ...earlier]);
        await this.#write({ ...bundle, data: { ...bundle.data, [trustKeys.client]: base64(known) } });
      }
      return { isComplete, why };
    }
    const data = {
      [trustKeys.peer]: base64(peer!.all),
      [trustKeys.server]: base64(server!.all),
      [trustKeys.client]: base64(ofClient!.all),
    };
    if (isComplete && isDeepStrictEqual(bundle.data, data)) return { isComplete };
    if (this.#isPaused)
      return { isComplete, why: `the cluster is paused, so Secret ${wanted.trustSecret} is not written` };
    const { annotations } = bundle.metadata;
    await this.#write({
      ...bundle,
      metadata: { ...bundle.metadata, annotations: { ...annotations, [ofAnnotation]: trusts } },
      data,
    });
    this.#options.log.info(`Wrote the authorities of both sources into Secret ${wanted.trustSecret}`);
    return { isComplete: true };
  }

  async #write(secret: Secret): Promise<void> {
    const { client, paths, at } = this.#options;
    await at('before WriteTrust');
    await client.replace(paths.of('secrets', secret.metadata.name), secret);
    await at('after WriteTrust');
  }

  /** The authorities in the Secrets, each once; those of the members' own source; and what is missing. */
  async #authorities(secrets: readonly string[]): Promise<{ all: string; own?: string; why: string[] }> {
    const { client, paths } = this.#options;
    const found = await Promise.all(
      secrets.map((name) =>
        client.get<Secret>(paths.of('secrets', name)).then(
          (secret) => authoritiesIn(name, secret),
          (error: unknown) => ({ why: isStatus(error, 404) ? missing(name) : messageOf(error) }),
        ),
      ),
    );
    const [own] = found;
    const all = found.flatMap((each) => ('why' in each ? [] : each.authorities));
    const why = found.flatMap((each) => ('why' in each ? each.why : []));
    return {
      all: joined(all),
      own: own && !('why' in own) ? joined(own.authorities) : undefined,
      why,
    };
  }
}

const missing = (name: string): string => `Secret ${name} does not exist; create it with ca.crt, tls.crt and tls.key`;

const keys = [trustKeys.peer, trustKeys.server, trustKeys.client];

/** A Secret without a certificate of its own would keep the pods of the next step from starting. */
function authoritiesIn(
  name: string,
  secret: Secret,
): { readonly authorities: X509Certificate[] } | { readonly why: string } {
  const lacks = ['ca.crt', 'tls.crt', 'tls.key'].find((key) => textOf(secret, key) === '');
  if (lacks !== undefined) return { why: `Secret ${name} has no ${lacks} yet` };
  const authorities = certificatesIn(textOf(secret, 'ca.crt'));
  return authorities ? { authorities } : { why: `ca.crt in Secret ${name} is not a list of PEM certificates` };
}

/** In one order, so that nothing changes when the sources change places. */
const joined = (certificates: readonly X509Certificate[]): string => {
  const byId = new Map(certificates.map((each) => [idOf(each), each.toString()]));
  return [...byId.keys()]
    .sort()
    .map((id) => byId.get(id))
    .join('');
};

const base64 = (content: string): string => Buffer.from(content).toString('base64');

/** Whether a key has every one of these authorities. */
function isIn(authorities: string | undefined, content: string): boolean {
  if (authorities === undefined) return false;
  const has = new Set(certificatesIn(content)?.map(idOf));
  return certificatesIn(authorities)!.every((each) => has.has(idOf(each)));
}
