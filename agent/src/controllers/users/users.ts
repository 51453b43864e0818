import { authorizationProblem } from '../../../../src/etcd/advisories.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { isStatus } from '../../kube/api-error.ts';
import type { EventOf } from '../../kube/events.ts';
import type { Paths } from '../../kube/paths.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { LogOnce } from '../../lib/log-once.ts';
import type { Key, Queue, Result } from '../../lib/queue.ts';
import type { RecordDoc } from '../../protocol/record.ts';
import { userReasons } from '../../protocol/user-reasons.ts';
import { type AuthCall, carriesPassword } from '../etcd/auth-calls.ts';
import type { EtcdCall, RootPort } from '../etcd/etcd-port.ts';
import { commonNameOf, root } from '../etcd/root-certificate.ts';
import { RecordConfigMap } from '../kubernetes/record-config-map.ts';
import { type EtcdClusterObject, type ReturnedCluster, readCluster } from '../objects/cluster-object.ts';
import { type EtcdUserObject, isGoing, type UserCertificate, type UserWish } from '../objects/user-object.ts';
import type { AuthReport, Member, Observed } from '../port/observed.ts';
import type { AtPoint } from '../port/port.ts';
import type { ReconcilerSettings } from '../port/settings.ts';
import { type Applied, apply, decideWith, look } from './apply.ts';
import { AuthNotes } from './auth-notes.ts';
import {
  passwordsIn,
  subjectOf,
  type UserDecision,
  type UserVerdict,
  type WantedAuth,
  withheldSwitch,
} from './decide.ts';
import { Logins } from './logins.ts';
import { fillPasswords, type Passwords, readPasswords } from './passwords.ts';
import type { Read } from './read.ts';
import { readyOf, statusOf } from './status.ts';
import { areUsersServed } from './users-served.ts';
import {
  fillable,
  goingVerdict,
  paused,
  secretsTaken,
  tried,
  type Verdicts,
  verdictFor,
  wishes,
  withheld,
  withoutPassword,
  withTaken,
} from './verdicts.ts';

export interface UsersOptions {
  readonly client: ApiClient;
  readonly paths: Paths;
  /** Name of the EtcdCluster. */
  readonly name: string;
  readonly settings: Pick<ReconcilerSettings, 'users' | 'backoffMin' | 'quorumLost'>;
  /** The EtcdUsers of all clusters, as last observed; undefined while that may be outdated. */
  readonly observed: () => readonly EtcdUserObject[] | undefined;
  /** The EtcdClusters of the namespace. */
  readonly clusters: () => readonly EtcdClusterObject[];
  readonly etcd: RootPort;
  readonly certificates: {
    readonly followUsers: (users: readonly UserWish[]) => void;
    readonly ofUser: (secret: string) => UserCertificate | undefined;
  };
  readonly at: AtPoint;
  readonly emit: (event: EventOf) => void;
  /** Called when `report` has news. */
  readonly onChange?: () => void;
  readonly follow: Queue['follow'];
  readonly log: Log;
}

/** Keeps users, roles and the switch of one cluster's etcd as its EtcdUsers and `spec.auth` say. */
export class Users {
  readonly #options: UsersOptions;
  readonly #records: RecordConfigMap;
  readonly #problems: LogOnce;
  #key: Key | undefined;
  #cluster: EtcdClusterObject;
  #hold: string | undefined;
  /** As last listed; undefined at first. */
  #members: readonly Member[] | undefined;
  /** Why a member may not enforce permissions, as last seen. */
  #unsafe: string | undefined;
  #halfWay: HalfWay | undefined = unasked;
  /** A pass over the cluster has read it. */
  #isSeen = false;
  #last: Read | undefined;
  readonly #logins: Logins;
  readonly #notes: AuthNotes;
  /** When etcd was last seen, on the monotonic clock; at first, the start. */
  #goodAt = performance.now();
  /** What etcd refused in the newest pass that changed something. */
  #refused: readonly string[] = [];
  /** By UID, as last found. */
  #verdicts: Verdicts = new Map();
  /** By UID: the generation that was last compared with etcd. */
  #judged: ReadonlyMap<string, number | undefined> = new Map();
  /** By UID: what was written over which version, until the watch brings a newer one. */
  readonly #written = new Map<string, { readonly over: string; readonly text: string }>();

  constructor(cluster: EtcdClusterObject, options: UsersOptions) {
    const { client, paths, name, log } = options;
    this.#cluster = cluster;
    this.#options = options;
    this.#problems = new LogOnce(log);
    this.#notes = new AuthNotes(cluster);
    this.#logins = new Logins(options.settings.quorumLost);
    this.#records = new RecordConfigMap({ client, paths, cluster: name, owner: () => undefined });
  }

  /** The EtcdCluster has changed, or may have. */
  follow(cluster: EtcdClusterObject): void {
    const isChanged = wishOf(cluster) !== wishOf(this.#cluster);
    this.#cluster = cluster;
    if (isChanged) this.#key?.now();
  }

  /** An EtcdUser of this cluster, or its certificate, has changed. */
  changed(): void {
    this.#key?.now();
  }

  /** What a pass over the cluster has observed. */
  see({ cluster, record, members, status }: Pick<Observed, 'cluster' | 'record' | 'members' | 'status'>): void {
    if (cluster.known) this.#isSeen = true;
    const hold = record.known ? whyNot(record.v?.doc) : record.why;
    if (members.known) this.#members = members.v;
    const halfWay = record.known ? halfWayOf(record.v?.doc, this.#members) : this.#halfWay;
    const unsafe = members.known ? unsafeOf(members.v, status) : this.#unsafe;
    if (hold === this.#hold && halfWay === this.#halfWay && unsafe === this.#unsafe) return;
    this.#unsafe = unsafe;
    this.#hold = hold;
    this.#halfWay = halfWay;
    this.#key?.now();
  }

  run(): void {
    const { follow, settings, log } = this.#options;
    this.#key = follow({
      pass: () => this.#attempt(),
      failed: (error) => {
        const why = `users cannot be managed: ${messageOf(error)}`;
        log.error({ err: error }, why);
        this.#note(undefined, { verdicts: new Map(), why });
      },
      backoff: [settings.backoffMin, settings.users],
    });
  }

  async #attempt(): Promise<Result> {
    const all = this.#options.observed();
    const users = ours(all, this.#cluster);
    // Whoever is missing in an outdated list is not gone.
    if (!all || !users) {
      this.#note(undefined, { verdicts: new Map(), why: 'the EtcdUsers cannot be listed or watched' });
      return { again: 'backoff' };
    }
    const judged = new Map(users.map(({ metadata }) => [metadata.uid, metadata.generation]));
    const taken = secretsTaken(all, [...this.#options.clusters(), this.#cluster]);
    const found = await this.#find(users, taken).catch((error: unknown) => this.#failed(users, messageOf(error)));
    const [going, staying] = [users.filter(isGoing), users.filter((user) => !isGoing(user))];
    const isHeld = (uid: string) => going.some(({ metadata }) => metadata.uid === uid);
    const isJudged = (uid: string) => !found.verdicts.has(uid) && this.#judged.has(uid) && !isHeld(uid);
    if (found.isOld !== true)
      this.#judged = new Map([...judged].map(([uid, now]) => [uid, isJudged(uid) ? this.#judged.get(uid) : now]));
    this.#options.etcd.rest();
    const gone = going.map((user) => [user.metadata.uid, goingVerdict(user, users, found)] as const);
    this.#verdicts = new Map([...withTaken(found.verdicts, taken), ...gone]);
    this.#note(staying.length, found);
    // Before the first pass over the cluster nothing is wrong: what that reads is only missing yet.
    if (this.#isSeen) this.#problems.report('users', found.why);
    const wanted = wishes(
      staying.filter(({ metadata }) => !taken.has(metadata.uid)),
      found.verdicts,
    );
    if (wanted) this.#options.certificates.followUsers(wanted);
    await this.#report(users);
    if (found.why !== undefined || found.next === 'again') return { again: 'backoff' };
    const { users: steady, backoffMin } = this.#options.settings;
    return { again: found.next === 'goes on' ? Math.min(backoffMin, steady) : steady };
  }

  /** What is known of etcd's authentication, for the status of the EtcdCluster. */
  report(): AuthReport | undefined {
    return this.#notes.report();
  }

  #note(users: number | undefined, { verdicts, why, refusal }: Outcome): void {
    const isNews = this.#notes.end({ cluster: this.#cluster, users, verdicts, why, refusal });
    if (isNews) this.#options.onChange?.();
  }

  /** An election, or the start of this process, changes no status: that of before holds for a while. */
  #failed(users: readonly EtcdUserObject[], why: string): Outcome {
    const isNew = performance.now() - this.#goodAt < this.#options.settings.quorumLost;
    const message = `${userReasons.ClusterNotServing}: ${why}`;
    const hasChanged = ({ metadata: { uid, generation } }: EtcdUserObject) =>
      this.#judged.has(uid) && this.#judged.get(uid) !== generation;
    const unknown = verdictFor(isNew ? users.filter(hasChanged) : users, 'unknown', 'ClusterNotServing', message);
    const verdicts = isNew ? new Map([...this.#verdicts, ...unknown]) : unknown;
    return { verdicts, why: `users cannot be managed: ${why}`, isOld: true };
  }

  async #find(users: readonly EtcdUserObject[], taken: ReadonlyMap<string, string>): Promise<Outcome> {
    const { spec, metadata } = this.#cluster;
    if (metadata.deletionTimestamp !== undefined) return { verdicts: verdictFor(users, 'unknown', 'ClusterDeleting') };
    if (spec.tls?.rootSecret === undefined) return { verdicts: verdictFor(users, 'refused', 'RootCertificateMissing') };
    const wrong = await this.#wrongCertificate();
    if (wrong !== undefined) {
      const refusal = { reason: 'RootCertificateUnusable', message: wrong } as const;
      return { verdicts: verdictFor(users, 'refused', refusal.reason, wrong), why: wrong, refusal };
    }
    const record = (await this.#records.read())?.doc;
    const hold = whyNot(record);
    if (hold !== undefined) {
      this.#notes.forget();
      return { verdicts: verdictFor(users, 'unknown', 'ClusterNotServing', hold), why: hold };
    }
    const passwords = await this.#passwords(users, taken);
    const wanted = this.#wanted(users, passwords.found, record);
    return this.#options.etcd.withLeader(record?.clusterId, async (call) => {
      let seen: Seen = await look({ etcd: call, wanted, last: this.#last, logins: this.#logins });
      this.#goodAt = performance.now();
      // From here on a pass may take long.
      const etcd: EtcdCall = async (each) => {
        const answer = await call(each);
        this.#goodAt = performance.now();
        return answer;
      };
      this.#last = seen.read;
      this.#notes.saw(seen.read, seen.isOn);
      const halfWay = halfWayOf(record, this.#members);
      const isHeld = ({ call }: Seen) => halfWay !== undefined && !halfWay.lets(call ?? filling);
      if (!seen.call || spec.paused || isHeld(seen)) seen = await this.#try(etcd, seen.read, wanted);
      const isUnfilled = [...passwords.unfilled.keys()].some((uid) => fillable(seen.verdicts.get(uid)));
      const next = nextOf(passwords, seen.tries);
      const told = tried(withoutPassword(seen.verdicts, passwords), seen.tries?.silence);
      const why = seen.isOn ? withheldSwitch(seen.read.facts, wanted) : undefined;
      if (!seen.call && !isUnfilled) return { verdicts: told, read: seen.read, next, why };
      if (spec.paused) return { verdicts: withheld(told, paused), read: seen.read, isPaused: true, next };
      return isHeld(seen) ? held({ verdicts: told, read: seen.read }, halfWay!) : this.#apply(etcd, seen);
    });
  }

  /** The same, when some passwords have been tried. */
  async #try(etcd: EtcdCall, read: Read, wanted: WantedAuth): Promise<Seen> {
    const tries = await this.#logins.try(etcd, read.facts, passwordsIn(wanted));
    return { ...decideWith(this.#logins, read, wanted), read, tries };
  }

  /** Nothing is changed on an older state than that of this moment. */
  async #apply(etcd: EtcdCall, seen: Seen): Promise<Outcome> {
    const { client, paths, name } = this.#options;
    const [users, clusters, record] = await Promise.all([
      client.list<EtcdUserObject>(paths.of('etcdusers')),
      client.list<ReturnedCluster>(paths.of('etcdclusters'), { fieldSelector: `metadata.name=${name}` }),
      this.#records.read(),
    ]);
    const found = clusters.items.find(({ metadata }) => metadata.uid === this.#cluster.metadata.uid);
    const cluster = found && readCluster(found);
    // After the list: what is missing there may be missing because of this.
    const isServed = await areUsersServed(client);
    const hold = cluster ? (isServed ? whyNot(record?.doc) : crdGoing) : `EtcdCluster ${name} has changed`;
    const all = ours(users.items, this.#cluster)!;
    if (!cluster || hold !== undefined)
      return { verdicts: verdictFor(all, 'unknown', 'ClusterNotServing', hold), why: hold! };
    this.#cluster = cluster;
    if (cluster.spec.paused || cluster.metadata.deletionTimestamp !== undefined || !cluster.spec.tls?.rootSecret)
      return { verdicts: verdictFor(all, 'unknown', 'Pending'), why: `EtcdCluster ${name} has changed` };
    this.#last = undefined;
    const halfWay = halfWayOf(record?.doc, this.#members);
    const passwords = await this.#passwords(all, secretsTaken(users.items, [...this.#options.clusters(), cluster]));
    const filled = await this.#fill(passwords, seen.verdicts);
    const done = await apply({
      etcd,
      wanted: this.#wanted(all, filled.found, record?.doc),
      last: seen.read,
      logins: this.#logins,
      lets: halfWay?.lets,
      at: async (point) => this.#options.at(point),
    });
    this.#last = done.read;
    this.#notes.saw(done.read, done.isOn);
    this.#tell(done.calls);
    this.#warn(done.refused);
    const verdicts = tried(withoutPassword(done.verdicts, filled), done.tries.silence);
    if (halfWay && done.isHeld) return held({ verdicts, read: done.read }, halfWay);
    const isLeft = [...done.verdicts.values()].some(({ kind }) => kind === 'call');
    const other = isLeft && !done.cut ? 'something else changes users and roles of etcd too' : undefined;
    const why = filled.why ?? done.cut?.silence ?? other;
    const isSoon = passwords.isSoon || filled.isSoon || done.cut !== undefined;
    const goesOn = done.cut && done.calls.some(carriesPassword);
    return {
      verdicts,
      read: done.read,
      next: goesOn ? 'goes on' : nextOf({ isSoon }, done.tries),
      why,
    };
  }

  #wanted(users: readonly EtcdUserObject[], passwords: Passwords['found'], record: RecordDoc | undefined): WantedAuth {
    const { spec } = this.#cluster;
    const staying = users.filter((user) => !isGoing(user));
    const unsafe = this.#unsafe ?? authorizationProblem(spec.version);
    const minor = record?.versions.current;
    const { wasOn } = this.#notes;
    return { cluster: this.#options.name, auth: spec.auth, users: staying, passwords, minor, unsafe, wasOn };
  }

  #passwords(users: readonly EtcdUserObject[], taken: ReadonlyMap<string, string>): Promise<Passwords> {
    const { client, paths, name: cluster } = this.#options;
    const staying = users.filter((user) => !isGoing(user));
    return readPasswords(staying, { client, paths, cluster, taken });
  }

  #fill(passwords: Passwords, seen: ReadonlyMap<string, UserVerdict>): ReturnType<typeof fillPasswords> {
    const { client, paths, at, log } = this.#options;
    const refused = new Set([...passwords.unfilled.keys()].filter((uid) => !fillable(seen.get(uid))));
    const onWrite = (secret: string) => log.info(`Filled Secret ${secret} of a user with a password`);
    return fillPasswords(passwords, { client, paths, refused, at, onWrite });
  }

  /** With a certificate of another name the reconciler would shut itself out. */
  async #wrongCertificate(): Promise<string | undefined> {
    const secret = this.#cluster.spec.tls?.rootSecret;
    const certificate = await this.#options.etcd.certificate();
    try {
      const name = commonNameOf(certificate);
      if (name === root) return undefined;
      return `the certificate in Secret ${secret} has the name '${name}', not ${root}; issue it with the common name ${root}`;
    } catch (error) {
      return `tls.crt in Secret ${secret} cannot be parsed: ${messageOf(error)}`;
    }
  }

  #tell(calls: Applied['calls']): void {
    const { log, emit } = this.#options;
    const deleted = this.#notes.made(calls);
    if (deleted.length > 0) emit({ type: 'Normal', reason: 'UsersDeleted', message: deletedMessage(deleted) });
    for (const call of calls) {
      log.info({ call }, `${call.kind}${subjectOf(call) === undefined ? '' : ` for user ${subjectOf(call)}`}`);
      if (call.kind === 'AuthEnable')
        emit({ type: 'Normal', reason: 'AuthenticationEnabled', message: 'Switched authentication on' });
      if (call.kind === 'AuthDisable')
        emit({ type: 'Normal', reason: 'AuthenticationDisabled', message: 'Switched authentication off' });
    }
  }

  /** Nobody else says so of a user without an EtcdUser. Each pass tries again, so it is logged once. */
  #warn(refused: readonly string[]): void {
    for (const why of refused) if (!this.#refused.includes(why)) this.#options.log.warn(`etcd refuses ${why}`);
    this.#refused = refused;
  }

  async #report(users: readonly EtcdUserObject[]): Promise<void> {
    const uids = new Set(users.map(({ metadata }) => metadata.uid));
    for (const uid of this.#written.keys()) if (!uids.has(uid)) this.#written.delete(uid);
    for (const user of users) await this.#reportOne(user);
  }

  async #reportOne(user: EtcdUserObject): Promise<void> {
    const { client, paths, certificates, at, log } = this.#options;
    const { name, uid, resourceVersion } = user.metadata;
    const found = this.#verdicts.get(uid);
    if (!found) return;
    const secret = user.spec.passwordSecret === undefined ? user.spec.certificateSecret : undefined;
    const certificate = secret === undefined ? undefined : certificates.ofUser(secret);
    const isManaged = this.#cluster.spec.tls?.managed !== undefined;
    const needsCertificate = found.kind === 'done' && secret !== undefined && isManaged;
    // Just after the start nothing is known of certificates.
    if (needsCertificate && !certificate && user.status?.conditions) return;
    const status = statusOf(user, readyOf(user, found, certificate, isManaged), certificate, Date.now());
    const text = JSON.stringify({
      ...status,
      conditions: status?.conditions?.map((each) => ({ ...each, lastTransitionTime: '' })),
    });
    const written = this.#written.get(uid);
    if (!status || (written?.over === resourceVersion && written.text === text)) return;
    try {
      const body = { metadata: { uid }, status: { ...status, certificate: status.certificate ?? null } };
      await at('before ReportUser');
      await client.merge(paths.of('etcdusers', name, 'status'), body);
      await at('after ReportUser');
      this.#written.set(uid, { over: resourceVersion, text });
    } catch (error) {
      if (!isStatus(error, 404) && !isStatus(error, 409))
        log.warn(`the status of EtcdUser ${name} cannot be written: ${messageOf(error)}`);
    }
  }
}

/** Not every change is made now. etcd is looked at all the same, because the switch of TLS may depend on what it has. */
interface HalfWay {
  readonly why: string;
  readonly lets: (call: AuthCall) => boolean;
}

/** What comes after a password is put into a Secret. */
const filling: AuthCall = { kind: 'UserAdd', user: '', hasPassword: true };

const unasked: HalfWay = { why: 'the members have not been asked yet how they speak', lets: () => false };

/** Over http, etcd knows no user: with authentication such a client would be shut out. */
const switching: HalfWay = {
  why: 'TLS is being switched on or off; users are left alone until every client uses https',
  lets: ({ kind }) => kind === 'AuthDisable',
};

/** Users have to go before http is accepted. */
const leaving: HalfWay = {
  why: 'TLS is being switched off, so authentication is not switched on',
  lets: ({ kind }) => kind !== 'AuthEnable',
};

const held = ({ verdicts, read }: { readonly verdicts: Verdicts; readonly read: Read }, { why }: HalfWay): Outcome => ({
  verdicts: withheld(verdicts, { kind: 'unknown', reason: 'ClusterNotServing', message: why }),
  read,
  why,
});

/** What was seen, and which passwords were tried. */
type Seen = UserDecision & { readonly read: Read; readonly tries?: Applied['tries'] };

const nextOf = ({ isSoon }: Pick<Passwords, 'isSoon'>, tries: Applied['tries'] | undefined): Outcome['next'] => {
  if (tries?.isLeft) return tries.found > 0 ? 'goes on' : 'again';
  return isSoon ? 'again' : 'good';
};

const crdGoing =
  'the custom resource EtcdUser is being deleted; its users in etcd are left alone until the CRD is applied again';

const deletedMessage = (users: readonly string[]): string =>
  `Deleted ${users.length === 1 ? '1 user' : `${users.length} users`} of etcd that no EtcdUser has: ${users.join(', ')}`;

interface Outcome {
  readonly verdicts: Verdicts;
  /** What etcd has; undefined if it was not asked. */
  readonly read?: Read;
  readonly isPaused?: boolean;
  /** `again`: something is to be tried again soon. `goes on`: the rest comes at once. */
  readonly next?: 'good' | 'again' | 'goes on';
  /** etcd was not asked: these are verdicts of before. */
  readonly isOld?: boolean;
  /** What is to be tried again soon. */
  readonly why?: string | undefined;
  /** What needs a person before etcd can be asked. */
  readonly refusal?: AuthReport['refusal'];
}

/** Those that are being deleted too: their users are deleted at once. */
const ours = (
  users: readonly EtcdUserObject[] | undefined,
  { metadata }: EtcdClusterObject,
): EtcdUserObject[] | undefined => users?.filter((user) => user.spec.clusterName === metadata.name);

/** The part of an EtcdCluster that matters here. */
const wishOf = ({ spec, metadata }: EtcdClusterObject): string =>
  JSON.stringify([spec.auth, spec.tls, spec.paused, spec.version, metadata.deletionTimestamp]);

/** A member that is silent may run any version. */
function unsafeOf(members: readonly Member[], status: Observed['status']): string | undefined {
  const problems = members.flatMap(({ id, name }) => {
    const found = status[id];
    if (found?.known) return authorizationProblem(found.v.version) ?? [];
    return `the version of member ${name || id} is not known, and an old one does not enforce permissions; restart the member, or replace it`;
  });
  return problems[0];
}

/** A member loses its http URL when every member has restarted, and until then one may accept http from clients. */
function halfWayOf(record: RecordDoc | undefined, members: readonly Member[] | undefined): HalfWay | undefined {
  if (!members) return unasked;
  const { clients, target } = record?.transport ?? {};
  if (clients !== undefined && clients !== 'https') return switching;
  if (target === 'http') return leaving;
  return members.some(({ peerUrls }) => peerUrls.some((url) => url.startsWith('http:'))) ? switching : undefined;
}

/** Why no user is changed now. */
function whyNot(record: RecordDoc | undefined): string | undefined {
  if (!record?.seeded || record.phase !== 'Running') return 'the cluster does not serve yet';
  const { op } = record;
  if (op?.kind === 'Restore' || op?.kind === 'Recover')
    return 'a restore is in progress; users are left alone until it ends';
  return op?.kind === 'Delete' ? 'the cluster is being deleted; its users are not changed any more' : undefined;
}
