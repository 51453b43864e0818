import { WalTail } from '../../etcd/offline/wal-state.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { LogOnce } from '../../lib/log-once.ts';
import type { AgentReason } from '../../protocol/agent-reasons.ts';
import type { AgentStatus, Identity } from '../../protocol/agent-status.ts';
import type { RecordDoc } from '../../protocol/record.ts';
import type { MemberConfig } from '../member-config.ts';
import { readCache } from '../record/record-cache.ts';
import type { Readiness } from '../status-server.ts';
import type { AtStep } from '../steps.ts';
import { etcdDirOf, readVolume, type VolumeFacts } from '../volume.ts';
import { agentMetrics } from './agent-metrics.ts';
import { firstExpiry } from './certificate.ts';
import type { EtcdMetrics } from './etcd-metrics.ts';
import { EtcdProbe } from './etcd-probe.ts';
import { EtcdWatch } from './etcd-watch.ts';
import { MemberFiles } from './member-files.ts';
import { isOf, joinPermit, permittedIdentity } from './newer-permit.ts';
import { etcdReadiness, notServed, tellsLearners } from './readiness.ts';
import { RecordWatch } from './record-watch.ts';
import type { ServeDeps } from './serve.ts';
import { type Finding, initialStatus, serveStatus } from './serve-status.ts';
import { verifyMember } from './verify-member.ts';
import { quotaProblem } from './written-quota.ts';

/** At most this long between two reads of the record while the member does not run yet, in ms. */
const URGENT = 3_000;

const starting: Finding = { state: 'Starting', verified: false };
const refused = (reason: AgentReason, message: string): Finding => ({
  state: 'Refused',
  reason,
  message,
  verified: false,
});

/** What the sidecar knows and does; serve() says when. */
export class Sidecar {
  readonly #config: MemberConfig;
  readonly #log: Log;
  readonly #at: AtStep;
  readonly #signal: AbortSignal;
  readonly #probe: EtcdProbe;
  readonly #etcd: EtcdWatch;
  readonly #wal: WalTail;
  readonly #record: RecordWatch;
  readonly #problems: LogOnce;
  readonly #files: MemberFiles;
  #finding: Finding = { state: 'Init', verified: false };
  #walSeen = false;
  #settled = false;
  #recordDue = 0;
  #uncached = false;
  #waitingSince: number | undefined;

  private constructor(config: MemberConfig, { record, log, at, signal }: ServeDeps, cache: RecordDoc | undefined) {
    this.#config = config;
    this.#log = log;
    this.#at = at;
    this.#signal = signal;
    this.#probe = new EtcdProbe(config.metricsUrl, signal);
    this.#etcd = new EtcdWatch(this.#probe);
    this.#wal = new WalTail(etcdDirOf(config.dataDir));
    this.#record = new RecordWatch(record, cache);
    this.#problems = new LogOnce(log);
    this.#files = new MemberFiles(config, this.#problems);
  }

  static async open(config: MemberConfig, deps: ServeDeps): Promise<Sidecar> {
    return new Sidecar(config, deps, await readCache(config.dataDir));
  }

  /** The member runs, and nothing is waited for. */
  get settled(): boolean {
    return this.#settled;
  }

  waitsForLock(why: 'busy' | Error): void {
    const message = why === 'busy' ? 'another agent is at work on this volume' : messageOf(why);
    this.#finding = { state: 'Init', reason: 'VolumeBusy', message, verified: false };
    this.#problems.report('state', message);
  }

  /** A look that came to nothing: what was found before still holds. */
  failed(error: unknown): void {
    if (!this.#signal.aborted) this.#problems.report('look', messageOf(error));
  }

  async look(): Promise<void> {
    const volume = await readVolume(this.#config.dataDir);
    const { identity } = volume;
    this.#files.identity = identity.kind === 'identity' ? identity.identity : undefined;
    await this.#readRecord();
    const before = this.#finding.state;
    this.#finding = volume.walPresent ? await this.#withWal(volume) : await this.#withoutWal(volume);
    if (before !== this.#finding.state) this.#log.info(`${before} → ${this.#finding.state}`);
    this.#settled = this.#finding.state === 'Running' && this.#mayServe() === undefined;
    this.#problems.report('state', this.#finding.message);
    this.#problems.report('look', undefined);
  }

  async #readRecord(): Promise<void> {
    const now = performance.now();
    if (!this.#settled && now < this.#recordDue) return;
    this.#recordDue = now + Math.min(this.#config.poll, URGENT) * (0.5 + Math.random());
    const isNewer = await this.#record.read(this.#files.identity?.clusterUid, this.#signal);
    this.#problems.report('record', this.#record.problem?.message);
    const doc = this.#record.newest;
    if (!doc || !(isNewer || this.#uncached)) return;
    this.#uncached = !(await this.#files.cache(doc));
    if (!this.#uncached) await this.#at('cache.written');
  }

  async #withWal({ identity: stored, wal }: VolumeFacts): Promise<Finding> {
    this.#waitingSince = undefined;
    if (!this.#walSeen) await this.#at('wal.seen');
    this.#walSeen = true;
    if (stored.kind === 'unreadable') return refused('ForeignData', `identity.json is damaged: ${stored.why}`);
    if (stored.kind === 'none') return refused('ForeignData', 'there is a WAL, and no identity.json beside it');
    const identity = await this.#seal(stored.identity);
    if (!wal) return { ...starting, message: 'the WAL has no readable beginning yet' };
    const verdict = verifyMember(wal, identity, this.#record.newest);
    if (verdict.kind === 'split') return refused('DuplicateMember', verdict.message);
    if (verdict.kind === 'unknown') return { ...starting, reason: 'UnknownMember', message: verdict.message };
    return this.#running({ ...identity, ...wal }, await this.#etcd.metrics(1_000));
  }

  /** Before etcd answers: from here on an emptied data directory can not begin a cluster. */
  async #seal(identity: Identity): Promise<Identity> {
    const isSealed = await this.#files.seal(identity);
    if (identity.state === 'sealed' || !isSealed) return identity;
    await this.#at('config.sealed');
    const sealed: Identity = { ...identity, state: 'sealed' };
    if (!(await this.#files.note(sealed))) return identity;
    await this.#at('identity.sealed');
    return sealed;
  }

  async #running(identity: Identity, answer: EtcdMetrics | undefined): Promise<Finding> {
    const { dataDir, etcdVersion } = this.#config;
    // Else it is not our etcd, but whoever has its port.
    const metrics = answer?.memberId === identity.memberId ? answer : undefined;
    const isFirst = this.#files.identity?.clusterId === undefined;
    const isNoted = await this.#files.note({
      ...identity,
      lastVersion: metrics?.version ?? identity.lastVersion,
      clusterVersion: metrics?.clusterVersion ?? identity.clusterVersion,
    });
    if (isFirst && isNoted) await this.#at('identity.verified');
    this.#problems.report('quota', await quotaProblem(dataDir, metrics?.quota));
    if (!metrics || metrics.version === etcdVersion) return { state: metrics ? 'Running' : 'Starting', verified: true };
    return refused(
      'VersionMismatch',
      `etcd ${metrics.version} runs, and the pod template says ${etcdVersion}; give image and version of the same release`,
    );
  }

  async #withoutWal({ identity: stored, volumeId, leftover }: VolumeFacts): Promise<Finding> {
    this.#walSeen = false;
    this.#waitingSince ??= Date.now();
    if (stored.kind !== 'identity') return refused('NoIdentity', 'the volume is not as the gate left it');
    const { identity } = stored;
    if (identity.state === 'sealed' && volumeId === identity.volumeId) {
      // Somebody emptied the volume, so it is another one now.
      await this.#files.newVolumeId();
      return { ...starting, reason: 'DataGone', message: 'the data directory was emptied' };
    }
    if (leftover !== 'data') await this.#follow(volumeId, identity);
    return { state: identity.state === 'sealed' ? 'WaitPermit' : 'Starting', verified: false };
  }

  /** etcd could not start with the permit that it has, and tries again: with the newest. */
  async #follow(volumeId: string | undefined, identity: Identity): Promise<void> {
    const doc = this.#record.live;
    const permit = joinPermit(this.#config, volumeId, doc);
    if (!doc || !permit) return;
    if (isOf(identity, permit) || (await this.#files.note(permittedIdentity(permit, doc, identity))))
      await this.#files.permit(permit);
  }

  #mayServe(): Readiness | undefined {
    const { identity } = this.#files;
    if (!this.#finding.verified || !identity)
      return { ready: false, why: this.#finding.message ?? 'etcd does not run yet' };
    return notServed({ minEpoch: this.#config.minEpoch, identity, record: this.#record.newest });
  }

  async ready(): Promise<Readiness> {
    const reason = this.#mayServe();
    if (reason) return reason;
    const { etcdVersion } = this.#config;
    const asked = tellsLearners(etcdVersion) ? undefined : this.#etcd.metrics(1_000);
    const [readyz, metrics] = await Promise.all([this.#probe.readyz(), asked]);
    return etcdReadiness({ etcdVersion, readyz, metrics });
  }

  async status(): Promise<AgentStatus> {
    try {
      return await this.#status();
    } catch (error) {
      // No request: this is no evidence that the volume is lost.
      const why = { reason: 'VolumeUnreadable' as const, message: messageOf(error) };
      return { ...initialStatus(this.#config), state: 'Failed', ...why };
    }
  }

  async #status(): Promise<AgentStatus> {
    const { dataDir, peerTlsDir, serverTlsDir } = this.#config;
    const [volume, wal, etcd, notAfter] = await Promise.all([
      readVolume(dataDir),
      this.#wal.state().catch(() => undefined),
      this.#etcd.metrics(500),
      firstExpiry([peerTlsDir, serverTlsDir]),
    ]);
    return serveStatus(this.#config, {
      ...{ volume, wal, etcd, notAfter, finding: this.#finding },
      record: this.#record.newest,
      problem: this.#record.problem,
      complaints: this.#problems.all,
    });
  }

  async metrics(): Promise<string> {
    const times = { recordReadAt: this.#record.readAt, waitingSince: this.#waitingSince, now: Date.now() };
    return agentMetrics(await this.status(), times);
  }
}
