import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isInUse } from '../../etcd/offline/data-dir.ts';
import { WalTail } from '../../etcd/offline/wal-state.ts';
import { AgentError, codeOf, ExitCode, messageOf } from '../../lib/errors.ts';
import { lockVolume } from '../../lib/files/volume-lock.ts';
import { sha256 } from '../../lib/http/bearer.ts';
import type { Log } from '../../lib/log.ts';
import type { AgentReason } from '../../protocol/agent-reasons.ts';
import type { Identity } from '../../protocol/agent-status.ts';
import type { Permit, RecordDoc } from '../../protocol/record.ts';
import { agentSamples } from '../agent-metrics.ts';
import { missingCertificate } from '../certificate-files.ts';
import { permitConfig, readSettings, sealConfig, type Written } from '../etcd-config.ts';
import { writeIdentity } from '../identity.ts';
import type { MemberConfig } from '../member-config.ts';
import { cacheRecord, readCache } from '../record/record-cache.ts';
import type { RecordSource } from '../record/record-source.ts';
import type { StatusServer } from '../status-server.ts';
import type { AtStep } from '../steps.ts';
import { transportOf, withTransport } from '../transport.ts';
import { RootMemory } from '../trusted-roots.ts';
import type { VersionRefusal } from '../version-rule.ts';
import { etcdDirOf, orphansOf, readVolume, type VolumeFacts } from '../volume.ts';
import { writeVolumeId } from '../volume-id.ts';
import { decide, type GateDecision, type GateFacts, type RecordRead } from './decide.ts';
import { type GateView, gateStatus } from './gate-status.ts';
import { joinProblem } from './join-problem.ts';
import { quarantineData, quarantineLeftover } from './quarantine.ts';
import { emptyWork, restoredIdentity, restoreVolume } from './restore.ts';
import { emptyScratch, type Salvage, salvage, salvageFile } from './salvage.ts';

export interface GateDeps {
  readonly record: RecordSource;
  readonly server: Pick<StatusServer, 'status' | 'metrics' | 'salvage'>;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called right after each step. By default nothing happens. */
  readonly at?: AtStep;
}

/** Prepares the volume. Resolves when etcd may start. */
export async function gate(config: MemberConfig, deps: GateDeps): Promise<void> {
  await new Gate(config, deps).run();
}

/** Result of a pass: observe again immediately, observe again later, or let etcd start. */
type Next = 'again' | 'later' | 'done';

class Gate {
  readonly #config: MemberConfig;
  readonly #deps: GateDeps;
  readonly #at: AtStep;
  #view: GateView = { state: 'Init' };
  #salvaged: { readonly permit: string; readonly made: Salvage } | undefined;
  #logged = '';
  #waitingSince: number | undefined;
  #roots: RootMemory | undefined;
  readonly #wal: WalTail;

  constructor(config: MemberConfig, deps: GateDeps) {
    this.#config = config;
    this.#deps = deps;
    this.#wal = new WalTail(etcdDirOf(config.dataDir));
    this.#at = deps.at ?? (() => {});
    const status = () => gateStatus(config, this.#view);
    deps.server.status = status;
    deps.server.metrics = async () => agentSamples(status(), { waitingSince: this.#waitingSince, now: Date.now() });
  }

  async run(): Promise<void> {
    const { dataDir, poll } = this.#config;
    const { signal } = this.#deps;
    const onWait = (why: 'busy' | Error) => this.#show({ state: 'Init', why: lockReason(dataDir, why) });
    const lock = await lockVolume(dataDir, { signal, poll, onWait });
    try {
      for (let next = await this.#pass(); next !== 'done'; next = await this.#pass())
        if (next === 'later') await sleep(poll * (0.5 + Math.random()), undefined, { signal });
    } finally {
      lock.release();
    }
  }

  async #pass(): Promise<Next> {
    const { signal } = this.#deps;
    try {
      const facts = await this.#observe();
      // A failed read of the record does not withdraw the salvage permit.
      if (this.#salvaged && facts.record.kind !== 'record') return 'later';
      return await this.#act(decide(facts), facts);
    } catch (error) {
      signal.throwIfAborted();
      this.#show({ ...this.#view, state: 'Failed', why: problemOf(error) });
      return 'later';
    }
  }

  async #observe(): Promise<GateFacts> {
    const { dataDir, cluster, ordinal, minEpoch, etcdVersion } = this.#config;
    const volume = await readVolume(dataDir);
    const cache = await readCache(dataDir);
    const record = await this.#readRecord();
    const recordRev = Math.max(cache?.rev ?? 0, record.kind === 'record' ? record.doc.rev : 0) || undefined;
    this.#view = { ...this.#view, volume, recordRev, transport: undefined };
    const docs = [cache, record.kind === 'record' ? record.doc : undefined];
    const isMarked = docs.some((doc) => doc?.members[ordinal]?.reached !== undefined);
    const lastIndex = isMarked && volume.walPresent ? await this.#lastIndex() : undefined;
    return { cluster, ordinal, minEpoch, etcdVersion, volume, record, cache, lastIndex };
  }

  /** A log that cannot be read is left to etcd. */
  async #lastIndex(): Promise<number | undefined> {
    const state = await this.#wal.state().catch(() => undefined);
    return state && Math.max(state.lastIndex, state.commit);
  }

  /** Before etcd reads them. If this cannot be written, as on a full disk, it is unknown later. */
  async #seeRoots(): Promise<void> {
    this.#roots ??= await RootMemory.open(this.#config);
    await this.#roots.look().catch(() => {});
  }

  /** One attempt with a time-out: a member that has its data must not wait for the API server. */
  async #readRecord(): Promise<RecordRead> {
    const { signal, record } = this.#deps;
    try {
      return await record.read(AbortSignal.any([signal, AbortSignal.timeout(this.#config.recordTimeout)]));
    } catch (error) {
      signal.throwIfAborted();
      return { kind: 'unreachable', why: messageOf(error) };
    }
  }

  async #act(decision: GateDecision, facts: GateFacts): Promise<Next> {
    const { dataDir } = this.#config;
    if (decision.do !== 'salvage') await this.#endSalvage();
    switch (decision.do) {
      case 'wait':
        return this.#wait('WaitPermit', decision.why);
      case 'refuse':
        return this.#wait('Refused', decision.why);
      case 'volumeId':
        await writeVolumeId(dataDir);
        await this.#at('volumeId.written');
        return 'again';
      case 'quarantine':
        await this.#keepRecord(facts);
        await this.#refuseInUse();
        await quarantineData(dataDir, decision, this.#at);
        return 'again';
      case 'leftover':
        await this.#refuseInUse();
        await quarantineLeftover(dataDir, this.#at);
        return 'again';
      case 'completeRestore':
        await writeIdentity(dataDir, await restoredIdentity(dataDir, decision.restored));
        await this.#at('identity.restored');
        return 'again';
      case 'salvage':
        return this.#salvage(decision.permit, decision.identity);
      case 'restore':
      case 'permit':
      case 'start':
        return this.#prepare(decision, facts);
    }
  }

  /** Prepares a start of etcd, which speaks as the record says. */
  async #prepare(
    decision: Extract<GateDecision, { do: 'restore' | 'permit' | 'start' }>,
    facts: GateFacts,
  ): Promise<Next> {
    const transport = transportOf(this.#config, decision.doc?.transport);
    if ('reason' in transport) return this.#wait('Refused', transport);
    this.#view = { ...this.#view, transport };
    const config = withTransport(this.#config, transport);
    if (decision.do === 'start') return this.#start(config, decision.identity, facts);
    const { permit, doc } = decision;
    return decision.do === 'restore'
      ? this.#restore(config, permit, doc, facts)
      : this.#permit(config, permit, doc, facts);
  }

  async #permit(config: MemberConfig, permit: Permit, doc: RecordDoc, facts: GateFacts): Promise<Next> {
    const { dataDir, ordinal, etcdVersion } = config;
    this.#view = { ...this.#view, state: 'Preparing', why: undefined };
    const problem = permit.mode === 'existing' && (await joinProblem(config, permit.initialCluster));
    if (problem) return this.#wait('Preparing', { reason: 'NameNotResolved', message: problem });
    const missing = await this.#missingFile();
    if (missing) return this.#wait('Preparing', missing);
    await this.#keepRecord(facts);
    const { epoch, token, volumeId, id, mode, memberId } = permit;
    const { clusterUid } = doc;
    await writeIdentity(dataDir, {
      ...{ v: 1, clusterUid, epoch, token, ordinal, volumeId, permitId: id, mode },
      memberId,
      ...{ state: 'permitted', lastVersion: etcdVersion, runs: 0 },
    });
    await this.#at('identity.permitted');
    this.#logEdit(await permitConfig(config, permit));
    await this.#at('config.permitted');
    this.#show({ ...this.#view, state: 'Starting', why: undefined });
    return 'done';
  }

  async #restore(config: MemberConfig, permit: Permit, doc: RecordDoc, facts: GateFacts): Promise<Next> {
    this.#show({ ...this.#view, state: 'Restoring', why: undefined });
    await this.#keepRecord(facts);
    try {
      await restoreVolume(config, permit, doc, { signal: this.#deps.signal, at: this.#at });
      return 'again';
    } catch (error) {
      this.#deps.signal.throwIfAborted();
      return this.#wait('Restoring', problemOf(error, 'RestoreFailed'));
    }
  }

  async #salvage(permit: Permit, identity: Identity): Promise<Next> {
    const { signal, server } = this.#deps;
    const { token } = permit.salvage ?? {};
    if (token === undefined) return this.#wait('Stalled', { reason: 'Salvage', message: 'the permit has no token' });
    if (this.#salvaged?.permit !== permit.id) {
      await this.#endSalvage();
      this.#show({
        ...this.#view,
        state: 'Stalled',
        why: { reason: 'Salvage', message: 'copying the data' },
      });
      try {
        await this.#refuseInUse();
        this.#salvaged = { permit: permit.id, made: await salvage(this.#config, identity, { signal, at: this.#at }) };
      } catch (error) {
        signal.throwIfAborted();
        return this.#wait('Stalled', problemOf(error, 'SalvageFailed'));
      }
    }
    server.salvage = { file: salvageFile(this.#config), tokenSha256: sha256(token) };
    this.#view = { ...this.#view, salvage: { ...this.#salvaged.made, permitId: permit.id } };
    return this.#wait('Stalled', { reason: 'Salvage', message: 'serving a snapshot of the data' });
  }

  async #endSalvage(): Promise<void> {
    if (!this.#salvaged) return;
    this.#deps.server.salvage = undefined;
    this.#salvaged = undefined;
    this.#view = { ...this.#view, salvage: undefined };
    await emptyScratch(this.#config);
  }

  async #start(config: MemberConfig, identity: Identity, facts: GateFacts): Promise<Next> {
    const { dataDir, etcdVersion } = config;
    const missing = await this.#missingFile();
    if (missing) return this.#wait('Preparing', missing);
    await this.#keepRecord(facts);
    await this.#removeRemnants(facts.volume);
    const started: Identity = { ...identity, state: 'sealed', lastVersion: etcdVersion, runs: identity.runs + 1 };
    const isNeeded = identity.state !== 'sealed' || identity.lastVersion !== etcdVersion;
    await writeIdentity(dataDir, started).catch((error) => {
      // Start even if a full disk prevents counting this start.
      if (isNeeded || problemOf(error).reason !== 'DiskFull') throw error;
    });
    await this.#at('identity.started');
    this.#logEdit(await sealConfig(config, identity));
    await this.#at('config.sealed');
    this.#show({ ...this.#view, state: 'Starting', why: undefined });
    return 'done';
  }

  /** Caches the record for starts without the API server. A failure, such as a full disk, only logs a warning. */
  async #keepRecord({ record, volume }: GateFacts): Promise<void> {
    if (record.kind !== 'record') return;
    const { identity } = volume;
    if (identity.kind === 'identity' && identity.identity.clusterUid !== record.doc.clusterUid) return;
    await cacheRecord(this.#config.dataDir, record.doc).catch((error) =>
      this.#deps.log.warn(`cannot write record-cache.json: ${messageOf(error)}`),
    );
  }

  async #removeRemnants(volume: VolumeFacts): Promise<void> {
    const { dataDir } = this.#config;
    await emptyWork(dataDir).catch((error) => this.#deps.log.warn(`cannot empty work/: ${messageOf(error)}`));
    if (volume.orphanTmp === 0) return;
    await this.#refuseInUse();
    for (const { file } of await orphansOf(etcdDirOf(dataDir))) await rm(file, { force: true });
  }

  /** Checks the files that etcd needs before anything is written. Returns one that is still to come. */
  async #missingFile(): Promise<VersionRefusal | undefined> {
    await readSettings(this.#config);
    const message = await missingCertificate(this.#config);
    if (message !== undefined) return { reason: 'ConfigRefused', message };
    await this.#seeRoots();
    return undefined;
  }

  /** The lock keeps other agents away. This check finds an etcd that outlived its agent. */
  async #refuseInUse(): Promise<void> {
    if (await isInUse(etcdDirOf(this.#config.dataDir)))
      throw new AgentError(ExitCode.refused, 'etcd still runs on the volume; waiting until it stops');
  }

  #logEdit(written: Written): void {
    if (written === 'edited')
      this.#deps.log.warn(
        'etcd.yaml was edited by hand and has been overwritten; change the settings in the EtcdCluster instead',
      );
  }

  #wait(state: GateView['state'], why?: VersionRefusal): Next {
    this.#show({ ...this.#view, state, why });
    return 'later';
  }

  /** Shows the state in /status, and logs it when it changes. */
  #show(view: GateView): void {
    this.#view = view;
    // A pass that fails does not end the wait.
    if (view.state === 'WaitPermit') this.#waitingSince ??= Date.now();
    else if (view.state !== 'Failed') this.#waitingSince = undefined;
    const { state, why = state === 'WaitPermit' ? forReconciler : undefined } = view;
    const line = [state, why?.reason, why?.message].filter(Boolean).join(': ');
    if (line !== this.#logged) this.#deps.log.info(line);
    this.#logged = line;
  }
}

const forReconciler = { reason: undefined, message: 'waiting until the reconciler permits this volume to start' };

function lockReason(dataDir: string, why: 'busy' | Error): VersionRefusal {
  if (why !== 'busy') return problemOf(new Error(`${join(dataDir, 'lock')}: ${messageOf(why)}`, { cause: why }));
  return { reason: 'VolumeBusy', message: 'another pod uses this volume; waiting until it stops' };
}

const reasons: Readonly<Record<string, AgentReason>> = {
  ENOSPC: 'DiskFull',
  EDQUOT: 'DiskFull',
  EROFS: 'VolumeReadOnly',
};

function problemOf(error: unknown, otherwise?: AgentReason): VersionRefusal {
  const isConfig = error instanceof AgentError && error.exitCode === ExitCode.usage;
  const reason = reasons[codeOf(error) ?? ''] ?? otherwise ?? (isConfig ? 'ConfigRefused' : 'GateFailed');
  return { reason, message: messageOf(error) };
}
