import { createHash, X509Certificate } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ApiClient } from '../../kube/api-client.ts';
import { isStatus, unlessMissing } from '../../kube/api-error.ts';
import type { EventOf } from '../../kube/events.ts';
import type { KubeObject, Secret } from '../../kube/objects.ts';
import type { Paths } from '../../kube/paths.ts';
import { unquoted } from '../../kube/unquoted.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { LogOnce } from '../../lib/log-once.ts';
import type { Key, Queue, Result } from '../../lib/queue.ts';
import type { ClusterStatus, ReportedCertificate } from '../../protocol/cluster-status.ts';
import { type Known, known, unknown } from '../../protocol/known.ts';
import type { Problem } from '../../protocol/reasons.ts';
import type { UserCertificate, UserWish } from '../objects/user-object.ts';
import type { CertificateReport } from '../port/observed.ts';
import type { AtPoint } from '../port/port.ts';
import type { ReconcilerSettings } from '../port/settings.ts';
import { contentOf, type Sources } from './content.ts';
import { type CertificateDecision, decide, timeOf, type Write, withoutMistaken } from './decide.ts';
import { KeptAuthorities } from './kept-authorities.ts';
import { factsOf, type KnownAuthorities, type KnownAuthority, type Secrets, textOf } from './read.ts';
import type { MemberReports } from './rotation.ts';
import {
  type AuthorityName,
  type CertificatesSpec,
  isUser,
  type KnownUsers,
  type LeafName,
  leafNames,
  type WantedCertificates,
  wantedOf,
} from './wanted.ts';

export interface CertificatesOptions {
  readonly client: ApiClient;
  readonly paths: Paths;
  readonly namespace: string;
  /** Name of the EtcdCluster. */
  readonly name: string;
  readonly settings: Pick<
    ReconcilerSettings,
    'certificates' | 'certificatesRetry' | 'certificatesGlance' | 'backoffMin' | 'unreachable'
  >;
  readonly at: AtPoint;
  readonly emit: (event: EventOf) => void;
  /** The report has changed. */
  readonly onChange: () => void;
  /** The certificate of a user has changed. */
  readonly onUserChange?: () => void;
  readonly follow: Queue['follow'];
  readonly log: Log;
}

/** Result of the last pass. `at` is on the wall clock, `tick` on the monotonic one. */
interface Look {
  readonly at: number;
  readonly tick: number;
  readonly found: Pick<CertificateDecision, 'certificates' | 'unread' | 'problems' | 'rootsToLoad' | 'users'>;
}

/** How often within an hour a Secret is written again after something else has changed it. */
const mostOverwrites = 6;
/** And at all: more than anybody asks for. */
const mostWrites = 60;
const hour = 3_600_000;
const shortest = 1_000;

interface Written {
  readonly at: number;
  /** SHA-256 of the data. */
  readonly sum: string;
  /** Something else had changed what was written before. */
  readonly isAgain: boolean;
}

const sumOf = ({ data = {} }: Secret): string =>
  createHash('sha256')
    .update(JSON.stringify(Object.entries(data).sort()))
    .digest('hex');

/** Issues and renews the certificates of one cluster, independently of the reconciler's passes. */
export class Certificates {
  readonly #options: CertificatesOptions;
  readonly #problems: LogOnce;
  /** The writes within the last hour, by Secret. */
  readonly #writes = new Map<string, readonly Written[]>();
  /** Known authorities by Secret, seen here or in the status. They are kept when a Secret is emptied. */
  readonly #authorities = new Map<string, ReportedCertificate & KnownAuthority>();
  readonly #kept = new KeptAuthorities();
  /** Of every Secret, as the last pass read it; empty after a write, until it is read again. */
  #versions: ReadonlyMap<string, string> = new Map();
  /** Report of the members, with its time on the monotonic clock. */
  #members: { readonly reports: MemberReports; readonly tick: number } | undefined;
  /** Lists that every member was seen to have: no member goes back to an earlier one. */
  readonly #proven = new Set<string>();
  #key: Key | undefined;
  #spec: CertificatesSpec = {};
  /** Undefined while they are not known. */
  #users: KnownUsers | undefined;
  #wanted: WantedCertificates | undefined;
  #look: Look | undefined;
  /** What the last pass threw. */
  #thrown: Problem[] = [];
  /** The last pass that read every Secret. */
  #good: Look | undefined;

  constructor(options: CertificatesOptions) {
    this.#options = options;
    this.#problems = new LogOnce(options.log);
  }

  /** Follows a new spec, at once. Takes from the status which authorities the cluster had. */
  follow(spec: CertificatesSpec, status: Pick<Partial<ClusterStatus>, 'certificates'> = {}): void {
    this.#spec = spec;
    const wanted = this.#wantedNow();
    // The authorities seen here are at least as new.
    const others = (status.certificates ?? []).filter(({ secret }) => !this.#authorities.has(secret));
    this.#remember(wanted, others);
    this.#want(wanted);
  }

  /** Follows the users that name a Secret, at once. */
  followUsers(users: readonly UserWish[]): void {
    this.#users = { wishes: users, since: this.#users?.since ?? Date.now() };
    this.#want(this.#wantedNow());
  }

  /** The certificate of a user, as last looked at. Undefined while nothing is known, or if the reconciler makes none. */
  ofUser(secret: string): UserCertificate | undefined {
    const refusal = this.#wanted?.refusedUsers[secret];
    if (refusal !== undefined) return { problem: { reason: 'TlsRefused', message: refusal } };
    return this.#look?.found.users.get(secret);
  }

  #wantedNow(): WantedCertificates | undefined {
    const { name, namespace } = this.#options;
    return wantedOf(name, namespace, this.#spec, this.#users);
  }

  #want(wanted: WantedCertificates | undefined): void {
    if (JSON.stringify(wanted) === JSON.stringify(this.#wanted)) return;
    if (`${secretsOf(wanted)}` !== `${secretsOf(this.#wanted)}`) {
      this.#look = undefined;
      this.#good = undefined;
    }
    this.#wanted = wanted;
    this.#key?.now();
  }

  /** Current report of the members. A root is replaced step by step as they follow. */
  see(reports: MemberReports): void {
    const before = this.#members?.reports;
    this.#members = { reports, tick: performance.now() };
    if (this.#isRotating && !isDeepStrictEqual(reports, before)) this.#key?.now();
  }

  get #isRotating(): boolean {
    return this.#look?.found.problems.some(({ reason }) => inSteps.has(reason)) ?? false;
  }

  #reports(): MemberReports {
    if (!this.#members) return unknown('they were not asked yet');
    const { reports, tick } = this.#members;
    const isOld = performance.now() - tick > this.#options.settings.unreachable;
    return isOld ? unknown('they did not answer lately') : reports;
  }

  run(): void {
    const { follow, settings } = this.#options;
    const rest = {
      failed: (error: unknown) => this.#failed(error),
      backoff: [settings.backoffMin, settings.certificatesRetry] as const,
    };
    const key = follow({ pass: ({ signal }) => this.#attempt(signal), ...rest });
    this.#key = key;
    follow({
      // Between two passes, which may be minutes apart.
      pass: async () => {
        if (await this.#hasChanged()) key.now();
        return { again: settings.certificatesGlance };
      },
      ...rest,
    });
  }

  async #attempt(signal: AbortSignal): Promise<Result> {
    const wanted = this.#wanted;
    if (!wanted) return {};
    const dueAt = await this.#round(wanted, signal);
    if (dueAt === undefined) return { again: 'backoff' };
    return { again: Math.max(shortest, Math.min(this.#options.settings.certificates, dueAt - Date.now())) };
  }

  #failed(error: unknown): void {
    const message = `the certificates could not be looked at: ${messageOf(error)}`;
    this.#options.log.error({ err: error }, message);
    this.#thrown = [{ reason: 'PassFailed', message }];
    this.#options.onChange();
  }

  /** A watch of each Secret would keep a connection open for each: a Role that names Secrets allows no watch of several. */
  async #hasChanged(): Promise<boolean> {
    const { client, paths } = this.#options;
    const before = this.#versions;
    const same = await Promise.all(
      [...before].map(async ([secret, version]) => {
        const found = await orUnknown(client.cachedMetadata(paths.of('secrets', secret)));
        return versionOf(found) === version;
      }),
    );
    return before === this.#versions && same.includes(false);
  }

  /** Undefined if the certificates are not ours. */
  report(): CertificateReport | undefined {
    const wanted = this.#wanted;
    if (!wanted) return undefined;
    const secrets = secretsOf(wanted);
    const [last, good, tick] = [this.#look, this.#good, performance.now()];
    const unread = last?.found.unread ?? secrets.map((secret) => ({ secret, why: 'it was not read yet' }));
    return {
      now: Date.now(),
      secrets,
      certificates: last?.found.certificates ?? [],
      authorities: [...this.#authorities.values()],
      unread,
      problems: [
        ...this.#thrown,
        ...(last?.found.problems ?? []),
        ...(unread.length > 0 ? (good?.found.problems ?? []) : []),
      ],
      looked: last && { at: last.at, age: tick - last.tick },
      goodAge: good && tick - good.tick,
      rootsToLoad: last?.found.rootsToLoad,
    };
  }

  #remember(wanted: WantedCertificates | undefined, certificates: readonly ReportedCertificate[]): void {
    const authorities = new Set(Object.values(wanted?.authorities ?? {}));
    for (const { secret, notAfter, root, revoked = [] } of certificates)
      if (root !== undefined && authorities.has(secret))
        this.#authorities.set(secret, { secret, notAfter, root, revoked });
  }

  /** What an authority has revoked that another one has replaced. */
  #forgetRevoked(secret: string): void {
    const known = this.#authorities.get(secret);
    if (known) this.#authorities.set(secret, { ...known, revoked: [] });
  }

  #known({ authorities }: WantedCertificates): KnownAuthorities {
    const found = Object.entries(authorities).map(([name, secret]) => [name, this.#authorities.get(secret)]);
    return Object.fromEntries(found.filter(([, authority]) => authority !== undefined)) as KnownAuthorities;
  }

  /**
   * Returns when the next certificate falls due; undefined while not everything is good. Writes one Secret after the other.
   * Everything is read again before each, so that no decision is older than a write.
   */
  async #round(wanted: WantedCertificates, signal: AbortSignal): Promise<number | undefined> {
    const failed = new Map<string, string>();
    const conflicts = new Set<string>();
    const ofUsers: Map<LeafName, Known<Secret | undefined>> = new Map();
    for (;;) {
      // Before the Secrets are read: a root that another reconciler makes meanwhile is not lost.
      const had = this.#known(wanted);
      const secrets = await this.#read(wanted, ofUsers);
      const now = Date.now();
      const { clockAhead = 0 } = this.#options.client;
      const facts = withoutMistaken(factsOf(secrets, had), wanted);
      const kept = this.#kept.see(facts, secrets, had, wanted.authorities);
      const decision = decide(facts, wanted, now, {
        ...{ failed: new Set(failed.keys()), clockAhead, members: this.#reports(), provenLists: this.#proven },
        kept: new Set(Object.keys(kept) as AuthorityName[]),
      });
      for (const id of decision.provenLists) this.#proven.add(id);
      this.#remember(wanted, decision.certificates);
      const { write } = decision;
      if (!write || signal.aborted || this.#wanted !== wanted) return this.#found(decision, failed);
      const why = await this.#write(write, { secrets, wanted, now, had, kept });
      ofUsers.delete(write.of as LeafName);
      if (write.make === 'authority' && why === undefined) this.#forgetRevoked(write.secret);
      // Another writer, such as a second reconciler or an apply of the manifests. Read the current content first.
      const isNews = why === conflict && !conflicts.has(write.secret);
      if (isNews) conflicts.add(write.secret);
      else if (why !== undefined) failed.set(write.secret, why);
    }
  }

  #found(decision: CertificateDecision, failed: ReadonlyMap<string, string>): number | undefined {
    const { certificates, unread, problems, dueAt, rootsToLoad } = decision;
    const users = new Map(decision.users);
    const stuck = [...failed].map(([secret, why]) => ({
      ...{ secret, reason: 'CannotWrite' as const },
      message: `Secret ${secret} cannot be written: ${why}`,
    }));
    for (const { secret, ...problem } of stuck)
      if (users.has(secret)) users.set(secret, { ...users.get(secret), problem });
    const own = stuck.filter(({ secret }) => !users.has(secret)).map(({ secret: _, ...problem }) => problem);
    const found = { certificates, unread, problems: [...problems, ...own], users, rootsToLoad };
    const look = { at: Date.now(), tick: performance.now(), found };
    const before = this.#look?.found;
    const isNews = this.#thrown.length > 0 || JSON.stringify(before) !== JSON.stringify(found);
    this.#thrown = [];
    const isNewsOfUsers = !isDeepStrictEqual(before?.users, users);
    this.#look = look;
    if (isNewsOfUsers) this.#options.onUserChange?.();
    if (unread.length === 0) this.#good = look;
    const lines = [...found.problems.map(({ message }) => message), ...unread.map(unreadMessage)];
    this.#problems.report('certificates', lines.length > 0 ? lines.join('; ') : undefined);
    if (isNews) this.#options.onChange();
    const all = [...found.problems, ...[...users.values()].flatMap(({ problem }) => problem ?? [])];
    const isGood = unread.length === 0 && all.every(({ reason }) => lasting.has(reason));
    return isGood ? dueAt : undefined;
  }

  /**
   * The authorities first: an authority counts as unused only if its leaves were empty after it was. There may be many users,
   * so their Secrets are read once in a round, and again after they were written.
   */
  async #read(wanted: WantedCertificates, ofUsers: Map<LeafName, Known<Secret | undefined>>): Promise<Secrets> {
    const read = async (name: LeafName) => {
      const found = ofUsers.get(name) ?? (await this.#get(wanted.leaves[name]!));
      if (isUser(name)) ofUsers.set(name, found);
      return [name, found] as const;
    };
    const [peers, clients] = await Promise.all(
      [wanted.authorities.peers, wanted.authorities.clients].map((secret) => this.#get(secret)),
    );
    const leaves = await Promise.all(leafNames(wanted).map(read));
    const secrets = { peers, clients, ...Object.fromEntries(leaves) } as Secrets;
    const names = Object.entries({ ...wanted.authorities, ...wanted.leaves });
    this.#versions = new Map(names.map(([name, secret]) => [secret, versionOf(secrets[name as LeafName]!)]));
    return secrets;
  }

  async #get(secret: string): Promise<Known<Secret | undefined>> {
    const { client, paths } = this.#options;
    return orUnknown(client.get<Secret>(paths.of('secrets', secret)));
  }

  /** Returns why it was not written, as far as is known. */
  async #write(write: Write, sources: Sources): Promise<string | undefined> {
    const { client, paths, at } = this.#options;
    const before = sources.secrets[write.of];
    const recent = this.#recent(write.secret);
    const last = recent.at(-1);
    const isAgain = last !== undefined && before?.known === true && sumOf(before.v!) !== last.sum;
    const overwrites = recent.filter((each) => each.isAgain).length;
    if (isAgain && overwrites >= mostOverwrites)
      return `something else has changed it ${overwrites} times within an hour, and it is written no more, although ${write.why}; find out what else writes it`;
    if (recent.length >= mostWrites)
      return `it was written ${mostWrites} times within an hour, now because ${write.why}`;
    this.#versions = new Map();
    const point = pointOf(write);
    let secret: Secret | undefined;
    try {
      secret = await contentOf(write, sources);
      await at(`before ${point}`);
      await client.replace(paths.of('secrets', write.secret), secret);
      this.#writes.set(write.secret, [...recent, { at: sources.now, sum: sumOf(secret), isAgain }]);
      await at(`after ${point}`);
      this.#tell(write, secret, before?.known === true && textOf(before.v!, 'tls.crt') !== '');
      return undefined;
    } catch (error) {
      return isStatus(error, 409) ? conflict : unquoted(messageOf(error), keysIn(secret));
    }
  }

  #recent(secret: string): readonly Written[] {
    const now = Date.now();
    return (this.#writes.get(secret) ?? []).filter(({ at }) => Math.abs(now - at) < hour);
  }

  #tell({ make, secret, why }: Write, { data }: Secret, isRenewed: boolean): void {
    const pem = Buffer.from(data?.['tls.crt'] ?? '', 'base64');
    const until = timeOf(new X509Certificate(pem).validToDate.getTime());
    const message = `Wrote ${written[make]} into Secret ${secret}, valid until ${until}: ${why}`;
    const { log, emit } = this.#options;
    const isBack = make === 'restoration';
    log[isBack ? 'warn' : 'info'](message);
    const renewed = isRenewed ? 'CertificateRenewed' : 'CertificateIssued';
    emit({ type: isBack ? 'Warning' : 'Normal', reason: isBack ? 'AuthorityWrittenBack' : renewed, message });
  }
}

/** Those of the cluster. */
const secretsOf = (wanted: WantedCertificates | undefined): string[] =>
  wanted
    ? [
        ...Object.values(wanted.authorities),
        ...leafNames(wanted)
          .filter((name) => !isUser(name))
          .map((name) => wanted.leaves[name]!),
      ]
    : [];

const orUnknown = <T>(reading: Promise<T>): Promise<Known<T | undefined>> =>
  reading.catch(unlessMissing).then(known<T | undefined>, (error: unknown) => unknown(messageOf(error)));

const versionOf = (found: Known<KubeObject | undefined>): string => {
  if (!found.known) return 'unknown';
  return found.v ? `${found.v.metadata.uid} ${found.v.metadata.resourceVersion}` : 'missing';
};

const conflict = 'it was changed by somebody else at the same time';

/** Problems that an early retry does not solve. */
const lasting: ReadonlySet<string> = new Set(['TlsRefused', 'RootExpiring', 'Paused']);

/** What goes on as the members follow. */
const inSteps: ReadonlySet<string> = new Set(['RotatingRoot', 'RevokingIntermediates']);

const unreadMessage = ({ secret, why }: CertificateDecision['unread'][number]): string =>
  `Secret ${secret} cannot be read: ${why}`;

const written: Readonly<Record<Write['make'], string>> = {
  authority: 'a new authority',
  restoration: 'the authority back',
  intermediate: 'a new intermediate',
  nextRoot: 'the root that follows',
  promotion: 'the next root as the root',
  leaf: 'a certificate',
  trust: 'the next root as ca.crt',
  list: 'a revocation list',
};

function nameOf(of: AuthorityName | LeafName): string {
  if (isUser(of)) return 'User';
  const one = of.replace(/s$/, '');
  return one.charAt(0).toUpperCase() + one.slice(1);
}

/** A name for each kind of write, such as IssuePeerCertificate. */
const pointOf = ({ make, of }: Write): string =>
  ({
    nextRoot: `Begin${nameOf(of)}Rotation`,
    promotion: `End${nameOf(of)}Rotation`,
    trust: `Trust${nameOf(of)}Certificate`,
    list: `Write${nameOf(of)}RevocationList`,
    restoration: `Write${nameOf(of)}AuthorityBack`,
    authority: `Issue${nameOf(of)}Authority`,
    intermediate: `Renew${nameOf(of)}Authority`,
    leaf: `Issue${nameOf(of)}Certificate`,
  })[make];

const keysIn = (secret: Secret | undefined): string[] =>
  Object.entries(secret?.data ?? {})
    .filter(([name]) => name.endsWith('.key'))
    .map(([, value]) => Buffer.from(value, 'base64').toString());
