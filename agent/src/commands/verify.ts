import { createHash } from 'node:crypto';
import { type Entry, putJson, selectEntry, verificationKeyOf } from '../backup/catalog.ts';
import { type Level, levels, VERIFICATION_SCHEMA, type Verification } from '../backup/manifest.ts';
import { checkDecryptable } from '../backup/read-payload.ts';
import { verifySnapshot } from '../backup/verify.ts';
import type { Command, CommandContext } from '../command.ts';
import { AgentError, ExitCode, messageOf } from '../errors.ts';
import { Etcdutl } from '../etcd/etcdutl.ts';
import { gauge, type Sample, storeSamples } from '../metrics/samples.ts';
import type { CommandResult } from '../result.ts';
import { withTimeout } from '../run-limit.ts';
import { agentVersion } from '../version.ts';
import { askedFor, type OpenedStore, withStore } from './store-run.ts';

type Finding = Pick<Verification, 'id' | 'level' | 'outcome' | 'detail'>;

export const run: Command = (context) => withTimeout(context, (signal, grow) => verify({ ...context, signal }, grow));

async function verify(context: CommandContext, grow: (bytes: number) => void): Promise<CommandResult> {
  const { settings } = context;
  const level = settings.oneOf('level', '--level', levels);
  const part = parseSubset(settings.text('subset'));
  const identities = await settings.identities();
  return withStore(context, async (opened) => {
    const chosen = settings.text('objectKey') ? [await askedFor(opened, context)] : choose(opened, settings.args, part);
    if (level === 'open') await checkAllDecryptable(chosen, identities);
    grow(chosen.reduce((sum, { manifest }) => sum + (manifest?.content.sizeBytes ?? 0), 0));
    const findings: Finding[] = [];
    for (const entry of chosen) findings.push(await verifyOne(entry, { level, identities }, opened, context));
    const count = (what: Finding['outcome']) => findings.filter(({ outcome }) => outcome === what).length;
    const [failed, inconclusive] = [count('failed'), count('inconclusive')];
    return {
      exitCode: failed ? ExitCode.verificationFailed : inconclusive ? ExitCode.inconclusive : ExitCode.done,
      text: findings.map(({ id, outcome, detail }) => `${id}: ${outcome}: ${detail}`).join('\n'),
      data: {
        cluster: opened.cluster,
        store: opened.store.url,
        level,
        verified: count('verified'),
        failed,
        inconclusive,
        snapshots: findings,
      },
      metrics: verifySamples(opened, findings),
    };
  });
}

function verifySamples({ cluster, store, entries }: OpenedStore, findings: readonly Finding[]): Sample[] {
  const labels = { command: 'verify', cluster, store: store.url };
  const failed = findings.filter(({ outcome }) => outcome === 'failed');
  const found = entries.map((entry): Entry => {
    const finding = findings.find(({ id }) => id === entry.id);
    if (!finding || (finding.outcome !== 'failed' && standsAgainst(finding, entry.verification))) return entry;
    return { ...entry, verification: { ...finding, schema: '', at: '', agent: { version: agentVersion } } };
  });
  return [
    gauge('etcd_backup_last_run_failed_snapshots', labels, failed.length),
    ...storeSamples(cluster, store.url, found),
  ];
}

async function verifyOne(
  entry: Entry,
  { level, identities }: { level: Level; identities: readonly string[] },
  { store }: OpenedStore,
  context: CommandContext,
): Promise<Finding> {
  const { settings, progress, signal, log } = context;
  const { id, manifest } = entry;
  progress.phase('verify', id);
  // Nor is anything noted beside it: a newer agent would take it for a finding.
  if (entry.newer) return { id, level, outcome: 'inconclusive', detail: entry.problem ?? '' };
  const finding = await check().catch((error): Finding => {
    signal.throwIfAborted();
    // Only what was found wrong is a finding; a store that is away says nothing about the snapshot.
    if (error instanceof AgentError && error.exitCode === ExitCode.verificationFailed) {
      return { id, level, outcome: 'failed', detail: messageOf(error) };
    }
    throw error;
  });
  if (finding.outcome !== 'failed' && standsAgainst(finding, entry.verification)) {
    log.warn(`${id}: it still counts as failed: ${entry.verification?.detail}`);
    return finding;
  }
  const document: Verification = {
    schema: VERIFICATION_SCHEMA,
    ...finding,
    at: new Date().toISOString(),
    agent: { version: agentVersion },
  };
  await putJson(store, verificationKeyOf(entry.manifestKey), document, { signal }).catch((error) => {
    signal.throwIfAborted();
    log.warn(`${id}: what was found could not be noted beside it: ${messageOf(error)}`);
  });
  return finding;

  async function check(): Promise<Finding> {
    if (!manifest) throw new AgentError(ExitCode.verificationFailed, entry.problem ?? 'unreadable');
    const proof = await verifySnapshot(store, manifest, {
      level,
      identities,
      signal,
      scratch: settings.scratch,
      etcdutl: new Etcdutl(settings.text('etcdutl') ?? 'etcdutl'),
      onBytes: (bytes) => progress.bytes(bytes, manifest.object.sizeBytes),
    });
    return { id, level, outcome: proof.level === level ? 'verified' : 'inconclusive', detail: proof.detail };
  }
}

/** Before the first of them is downloaded. */
async function checkAllDecryptable(entries: readonly Entry[], identities: readonly string[]): Promise<void> {
  for (const { manifest } of entries) if (manifest) await checkDecryptable(manifest, { identities });
}

/** What a deeper look found wrong, a shallower one does not take back. */
function standsAgainst({ outcome, level }: Finding, standing: Verification | undefined): boolean {
  const proved = outcome === 'verified' ? level : 'read';
  return standing?.outcome === 'failed' && levels.indexOf(proved) < levels.indexOf(standing.level);
}

function choose({ store, entries, cluster }: OpenedStore, ids: readonly string[], part: Part | undefined): Entry[] {
  if (ids.length > 0) {
    return ids.map((id) => entries.find((entry) => entry.id === id) ?? selectEntry(entries, id, store.url));
  }
  if (entries.length === 0) throw new AgentError(ExitCode.nothingThere, `no snapshots of ${cluster} in ${store.url}`);
  return entries.filter(({ id }) => !part || bucketOf(id, part.of) === part.number);
}

interface Part {
  readonly number: number;
  readonly of: number;
}

/** By the id alone, so that a snapshot stays in its part while others come and go. */
function bucketOf(id: string, of: number): number {
  return (createHash('sha256').update(id).digest().readUInt32BE() % of) + 1;
}

function parseSubset(text: string | undefined): Part | undefined {
  if (text === undefined) return undefined;
  const [number, of] = text.split('/').map(Number);
  if (!number || !of || number < 1 || number > of || !Number.isInteger(number) || !Number.isInteger(of)) {
    throw new AgentError(ExitCode.usage, `--subset: '${text}' is no part; write 1/7 for the first of seven`);
  }
  return { number, of };
}
