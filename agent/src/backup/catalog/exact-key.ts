import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import {
  asUnusable,
  type Entry,
  exactManifestKey,
  IncompleteError,
  isValidKey,
  payloadProblem,
  readManifest,
  readVerification,
  rewrittenProblem,
  stateOf,
  type Unusable,
  verificationKeyOf,
  type WholeEntry,
} from './catalog.ts';

/**
 * Reads the snapshot under an exact key, with its manifest beside it: one that was adopted outside the folder, or that an earlier agent
 * has stored so. Throws unless the manifest and the payload exist.
 */
export async function readExactEntry(store: Store, key: string, options: CallOptions): Promise<WholeEntry> {
  const own = exactManifestKey(key);
  const read = await readManifest(store, own, options);
  const where = `${store.url}: ${key}`;
  if (read === undefined) throw new AgentError(ExitCode.nothingThere, `${where} has no manifest ${own} beside it`);
  const incomplete = async (problem: string, entry: Pick<Entry, 'manifest'> & Pick<Unusable, 'unread'>) => {
    const exitCode = entry.unread === 'refused' ? ExitCode.storeRefused : ExitCode.verificationFailed;
    const found = await Promise.all([key, own].map((each) => store.stat(each, options).catch(() => undefined)));
    const objects = found.filter((object) => object !== undefined);
    const state = stateOf({ ...entry, problem });
    const common = { id: key, manifestKey: own, pinned: false, restoredAs: [], objects, problem, state };
    return new IncompleteError(exitCode, `${where}: ${problem}`, { ...common, manifest: entry.manifest });
  };
  if ('problem' in read) throw await incomplete(read.problem, { unread: read.unread });
  const { manifest } = read;
  const { object, extra } = manifest;
  const invalid = [object.key, ...(extra ? [extra.key] : [])].find((each) => !isValidKey(each));
  if (invalid !== undefined) {
    const problem = `its manifest names ${JSON.stringify(invalid)}, which is not a valid key`;
    throw new AgentError(ExitCode.verificationFailed, `${where}: ${problem}`);
  }
  const payload = await store.stat(object.key, options);
  const about = payload && manifest.source.clusterId === 'unknown' ? [own, verificationKeyOf(own)] : [];
  const objects = (await Promise.all(about.map((each) => store.stat(each, options)))).filter(
    (each) => each !== undefined,
  );
  const found = await readVerification(store, verificationKeyOf(own), options).catch((error) => asUnusable(error));
  const verification = found && 'verification' in found ? found.verification : undefined;
  const problem =
    payloadProblem(manifest, payload?.size) ??
    rewrittenProblem({ manifestKey: own, manifest, objects, verification }, payload);
  if (problem) throw await incomplete(problem, { manifest });
  const { id } = manifest;
  // Without the right to list, a store also refuses to return objects that do not exist.
  const away = found && 'problem' in found && found.unread !== 'refused' ? found : undefined;
  const facts = { manifest, verification: verification?.id === id ? verification : undefined, problem: away?.problem };
  const state = stateOf({ ...facts, unread: away?.unread });
  return { id, manifestKey: own, ...facts, state, pinned: false, restoredAs: [], objects: [] };
}
