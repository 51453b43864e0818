import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WalTail } from '../../etcd/offline/wal-state.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { LogOnce } from '../../lib/log-once.ts';
import type { Sample } from '../../lib/metrics/sample.ts';
import type { AgentReason } from '../../protocol/agent-reasons.ts';
import type { AgentStatus, Identity } from '../../protocol/agent-status.ts';
import type { RecordDoc } from '../../protocol/record.ts';
import { agentSamples, type CertificateTimes, type Validity } from '../agent-metrics.ts';
import { missingCertificate } from '../certificate-files.ts';
import { configFile, quotaProblem } from '../etcd-config.ts';
import { damagedIdentity, noIdentity } from '../identity.ts';
import type { MemberConfig } from '../member-config.ts';
import { readCache } from '../record/record-cache.ts';
import type { RecordSource } from '../record/record-source.ts';
import { listsOf } from '../revocation-lists.ts';
import type { Readiness } from '../status-server.ts';
import type { AtStep } from '../steps.ts';
import { type MemberTransport, startedTransport, withTransport } from '../transport.ts';
import { leavesOf, RootMemory } from '../trusted-roots.ts';
import { etcdDirOf, readVolume, type VolumeFacts } from '../volume.ts';
import type { EtcdMetrics } from './etcd-metrics.ts';
import { EtcdProbe, EtcdWatch } from './etcd-probe.ts';
import { joinPermit, permittedIdentity, usesPermit } from './join-permit.ts';
import { MemberFiles } from './member-files.ts';
import { etcdReadiness, notServed, readyzFailsForLearner } from './readiness.ts';
import { RecordWatch } from './record-watch.ts';
import { initialStatus, type ServeFinding, serveStatus } from './serve-status.ts';
import { servesTls } from './serves-tls.ts';
import { verifyMember } from './verify-member.ts';

/** Longest pause between two reads of the record while the member does not run yet, in ms. */
const STARTING_RECORD_POLL = 3_000;

export interface SidecarDeps {
  readonly record: RecordSource;
  readonly log: Log;
  /** Stops the sidecar immediately: etcd has already ended by then. */
  readonly signal: AbortSignal;
  readonly at: AtStep;
}

const starting: ServeFinding = { state: 'Starting', verified: false };
const refused = (reason: AgentReason, message: string): ServeFinding => ({
  state: 'Refused',
  reason,
  message,
  verified: false,
});

/** The sidecar's state and actions. serve() decides when they run. */
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
  readonly #roots: RootMemory;
  readonly #transport: MemberTransport;
  #finding: ServeFinding = { state: 'Init', verified: false };
  #walSeen = false;
  #isSteady = false;
  #recordDue = 0;
  #uncached = false;
  #waitingSince: number | undefined;

  private constructor(
    config: MemberConfig,
    { record, log, at, signal }: SidecarDeps,
    cache: RecordDoc | undefined,
    roots: RootMemory,
    transport: MemberTransport,
  ) {
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
    this.#roots = roots;
    this.#transport = transport;
  }

  static async open(given: MemberConfig, deps: SidecarDeps): Promise<Sidecar> {
    const transport = await startedTransport(given);
    const config = withTransport(given, transport);
    return new Sidecar(config, deps, await readCache(config.dataDir), await RootMemory.open(config), transport);
  }

  /** True if the member runs and the sidecar waits for nothing. */
  get isSteady(): boolean {
    return this.#isSteady;
  }

  waitsForLock(why: 'busy' | Error): void {
    const message = why === 'busy' ? 'another agent uses this volume' : messageOf(why);
    this.#finding = { state: 'Init', reason: 'VolumeBusy', message, verified: false };
    this.#problems.report('state', message);
  }

  /** Reports a failed observation. The previous finding remains valid. */
  failed(error: unknown): void {
    if (!this.#signal.aborted) this.#problems.report('observe', messageOf(error));
  }

  async observe(): Promise<void> {
    const volume = await readVolume(this.#config.dataDir);
    const { identity } = volume;
    this.#files.identity = identity.kind === 'identity' ? identity.identity : undefined;
    await this.#readRecord();
    const before = this.#finding.state;
    this.#finding = volume.walPresent ? await this.#withWal(volume) : await this.#withoutWal(volume);
    if (before !== this.#finding.state) this.#log.info(`${before} → ${this.#finding.state}`);
    this.#isSteady = this.#finding.state === 'Running' && this.#mayServe() === undefined;
    this.#problems.report('state', this.#finding.message);
    this.#problems.report('certificates', await missingCertificate(this.#config).catch(messageOf));
    await this.#seeRoots();
    this.#problems.report('observe', undefined);
  }

  /** Query etcd before reading the files: content that is unchanged afterwards is the content that etcd read. */
  async #seeRoots(): Promise<void> {
    const { listenClientUrls, peerTlsDir, serverTlsDir } = this.#config;
    if ((peerTlsDir ?? serverTlsDir) === undefined) return;
    const metrics = await this.#etcd.metrics(1_000);
    const isUnknown = metrics !== undefined && !this.#roots.knows(metrics.upSince);
    const url = listenClientUrls.find((each) => each.startsWith('https:'));
    const isServing = isUnknown && (!url || !serverTlsDir || (await servesTls(url, serverTlsDir)));
    const written = this.#roots.look(metrics && { upSince: metrics.upSince, isServing });
    this.#problems.report('roots.json', await written.then(() => undefined, messageOf));
  }

  async #readRecord(): Promise<void> {
    const now = performance.now();
    if (!this.#isSteady && now < this.#recordDue) return;
    this.#recordDue = now + Math.min(this.#config.poll, STARTING_RECORD_POLL) * (0.5 + Math.random());
    const isNewer = await this.#record.read(this.#files.identity?.clusterUid, this.#signal);
    this.#problems.report('record', this.#record.problem?.message);
    const doc = this.#record.newest;
    if (!doc || !(isNewer || this.#uncached)) return;
    this.#uncached = !(await this.#files.cache(doc));
    if (!this.#uncached) await this.#at('cache.written');
  }

  async #withWal({ identity: stored, wal }: VolumeFacts): Promise<ServeFinding> {
    this.#waitingSince = undefined;
    if (!this.#walSeen) await this.#at('wal.seen');
    this.#walSeen = true;
    if (stored.kind === 'unreadable') return refused('ForeignData', damagedIdentity(stored.why));
    if (stored.kind === 'none') return refused('ForeignData', noIdentity);
    const identity = await this.#seal(stored.identity);
    if (!wal) return { ...starting, message: 'waiting for etcd to write the beginning of its write-ahead log' };
    const verdict = verifyMember(wal, identity, this.#record.newest);
    if (verdict.kind === 'split') return refused('DuplicateMember', verdict.message);
    if (verdict.kind === 'unknown') return { ...starting, reason: 'UnknownMember', message: verdict.message };
    return this.#running({ ...identity, ...wal }, await this.#etcd.metrics(1_000));
  }

  /** Seals etcd.yaml even before etcd answers. From then on an emptied data directory cannot start a new cluster. */
  async #seal(identity: Identity): Promise<Identity> {
    const isSealed = await this.#files.seal(identity);
    if (identity.state === 'sealed' || !isSealed) return identity;
    await this.#at('config.sealed');
    const sealed: Identity = { ...identity, state: 'sealed' };
    if (!(await this.#files.saveIdentity(sealed))) return identity;
    await this.#at('identity.sealed');
    return sealed;
  }

  async #running(identity: Identity, answer: EtcdMetrics | undefined): Promise<ServeFinding> {
    const { dataDir, etcdVersion } = this.#config;
    // Ignore another etcd that uses this port.
    const metrics = answer?.memberId === identity.memberId ? answer : undefined;
    const isFirst = this.#files.identity?.clusterId === undefined;
    const isSaved = await this.#files.saveIdentity({
      ...identity,
      lastVersion: metrics?.version ?? identity.lastVersion,
      clusterVersion: metrics?.clusterVersion ?? identity.clusterVersion,
    });
    if (isFirst && isSaved) await this.#at('identity.verified');
    this.#problems.report('quota', await quotaProblem(dataDir, metrics?.quota));
    if (!metrics || metrics.version === etcdVersion) return { state: metrics ? 'Running' : 'Starting', verified: true };
    return refused(
      'VersionMismatch',
      `etcd ${metrics.version} runs, but the pod template names ${etcdVersion}; set image and version to the same release`,
    );
  }

  async #withoutWal({ identity: stored, volumeId, leftover }: VolumeFacts): Promise<ServeFinding> {
    this.#walSeen = false;
    this.#waitingSince ??= Date.now();
    if (stored.kind !== 'identity')
      return refused('NoIdentity', 'the volume has lost the identity.json that the gate wrote');
    const { identity } = stored;
    if (identity.state === 'sealed' && volumeId === identity.volumeId) {
      // The volume was emptied. A new volumeId makes it a new volume.
      await this.#files.newVolumeId();
      return { ...starting, reason: 'DataGone', message: 'the data directory was emptied' };
    }
    if (leftover !== 'data') await this.#follow(volumeId, identity);
    return { state: identity.state === 'sealed' ? 'WaitPermit' : 'Starting', verified: false };
  }

  /** Replaces the permit with the newest one: etcd could not start with the old one and keeps trying. */
  async #follow(volumeId: string | undefined, identity: Identity): Promise<void> {
    const doc = this.#record.live;
    const permit = joinPermit(this.#config, volumeId, doc);
    if (!doc || !permit) return;
    if (usesPermit(identity, permit) || (await this.#files.saveIdentity(permittedIdentity(permit, doc, identity))))
      await this.#files.permit(permit);
  }

  #mayServe(): Readiness | undefined {
    const { identity } = this.#files;
    if (!this.#finding.verified || !identity)
      return { ready: false, why: this.#finding.message ?? 'etcd is not running yet' };
    return notServed({ minEpoch: this.#config.minEpoch, identity, record: this.#record.newest });
  }

  async ready(): Promise<Readiness> {
    const reason = this.#mayServe();
    if (reason) return reason;
    const { etcdVersion } = this.#config;
    const needed = readyzFailsForLearner(etcdVersion) ? undefined : this.#etcd.metrics(1_000);
    const [readyz, metrics] = await Promise.all([this.#probe.readyz(), needed]);
    return etcdReadiness({ etcdVersion, readyz, metrics });
  }

  async status(times = certificateTimes(this.#config)): Promise<AgentStatus> {
    try {
      return await this.#status(times);
    } catch (error) {
      // No `request`: an unreadable volume does not count as lost.
      const why = { reason: 'VolumeUnreadable' as const, message: messageOf(error) };
      return { ...initialStatus(this.#config), state: 'Failed', ...why };
    }
  }

  async #status(times: Promise<CertificateTimes>): Promise<AgentStatus> {
    const { dataDir } = this.#config;
    const [volume, wal, etcd, certificates] = await Promise.all([
      readVolume(dataDir),
      this.#wal.state().catch(() => undefined),
      this.#etcd.metrics(500),
      times,
    ]);
    const etcdYaml = await readFile(configFile(dataDir), 'utf8').catch(() => '');
    const [roots, leaves, revocationLists] = await Promise.all([
      this.#roots.status(etcd?.upSince),
      leavesOf(this.#config),
      listsOf(this.#config, etcdYaml),
    ]);
    return serveStatus(this.#config, {
      ...{ volume, wal, etcd, notAfter: firstOf(certificates), roots, leaves, revocationLists, finding: this.#finding },
      transport: this.#transport,
      record: this.#record.newest,
      recordProblem: this.#record.problem,
      problems: this.#problems.all,
    });
  }

  async metrics(): Promise<Sample[]> {
    const found = certificateTimes(this.#config);
    const [status, certificates] = await Promise.all([this.status(found), found]);
    const times = { recordReadAt: this.#record.readAt, waitingSince: this.#waitingSince, certificates };
    return agentSamples(status, { ...times, now: Date.now() });
  }
}

type TlsDirectories = Pick<MemberConfig, 'peerTlsDir' | 'serverTlsDir' | 'backup'>;

/** Reads when the pod's certificates are valid. One that cannot be read is left out. */
async function certificateTimes({ peerTlsDir, serverTlsDir, backup }: TlsDirectories): Promise<CertificateTimes> {
  const [peer, server, client] = await Promise.all([peerTlsDir, serverTlsDir, backup?.rootTlsDir].map(validityIn));
  return { peer, server, client };
}

const validityIn = async (directory: string | undefined): Promise<Validity | undefined> =>
  directory === undefined ? undefined : validityOf(join(directory, 'tls.crt')).catch(() => undefined);

function firstOf(times: CertificateTimes): string | undefined {
  const ends = Object.values(times).flatMap((validity: Validity | undefined) => validity?.to ?? []);
  const first = Math.min(...ends);
  return Number.isFinite(first) ? new Date(first).toISOString() : undefined;
}

async function validityOf(file: string): Promise<Validity> {
  const { validFromDate, validToDate } = new X509Certificate(await readFile(file));
  return { from: validFromDate.getTime(), to: validToDate.getTime() };
}
