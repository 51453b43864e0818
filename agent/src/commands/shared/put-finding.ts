import { type Entry, putJson, verificationKeyOf } from '../../backup/catalog/catalog.ts';
import { type Level, VERIFICATION_SCHEMA, type Verification } from '../../backup/catalog/manifest.ts';
import { DamagedError, MissingError } from '../../backup/payload/damaged-error.ts';
import { type AgentError, ExitCode } from '../../lib/errors.ts';
import { agentVersion } from '../../lib/version.ts';
import type { Store } from '../../store/store.ts';
import { said } from '../advice/advice.ts';
import type { CommandContext } from '../cli/command.ts';

export interface VerifyFinding extends Pick<Verification, 'id' | 'level' | 'outcome' | 'detail' | 'damaged'> {
  /** True of what every listing shows, such as a missing payload. It is not stored: it must not outlive the listing. */
  readonly isPassing?: boolean;
}

/** What an error of a verification says against the snapshot. Undefined: only that it cannot be read now. */
export function findingOf(error: AgentError, id: string, level: Level): VerifyFinding | undefined {
  const { exitCode } = error;
  // Nothing there: deleted between two calls.
  const isGone = exitCode === ExitCode.nothingThere;
  if (exitCode !== ExitCode.verificationFailed && !isGone) return undefined;
  const damaged = isGone || error instanceof DamagedError;
  const isPassing = isGone || error instanceof MissingError;
  return {
    ...{ id, level, outcome: 'failed', detail: said(error) },
    damaged: damaged || undefined,
    isPassing: isPassing || undefined,
  };
}

/** Stores what was found out about a snapshot beside it. A store that does not take it only causes a warning. */
export async function putFinding(
  { manifestKey, manifest, objects }: Pick<Entry, 'manifestKey' | 'manifest' | 'objects'>,
  { isPassing: _, ...finding }: VerifyFinding,
  store: Store,
  { signal, log }: CommandContext,
): Promise<void> {
  const isAdopted = manifest?.source.clusterId === 'unknown';
  // As it was listed before it was read: whoever writes it meanwhile makes it another one.
  const file = isAdopted ? objects.find(({ key }) => key === manifest.object.key) : undefined;
  const document: Verification = {
    schema: VERIFICATION_SCHEMA,
    ...finding,
    modified: file && !Number.isNaN(file.modified.getTime()) ? file.modified.toISOString() : undefined,
    at: new Date().toISOString(),
    agent: { version: agentVersion },
  };
  await putJson(store, verificationKeyOf(manifestKey), document, { signal }).catch((error) => {
    signal.throwIfAborted();
    const then = finding.outcome === 'failed' ? '; commands without an id may still use it, so name another one' : '';
    log.warn(`${finding.id}: the finding could not be stored beside the snapshot: ${said(error)}${then}`);
  });
}
