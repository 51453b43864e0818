import { messageOf } from '../../lib/errors.ts';
import type { Finding } from '../../lib/finding.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import {
  exactManifestKey,
  putJson,
  readVerification,
  type Unusable,
  verificationKeyOf,
  type WholeEntry,
} from '../catalog/catalog.ts';
import { type SnapshotManifest, VERIFICATION_SCHEMA, type Verification } from '../catalog/manifest.ts';

/** The finding of an earlier `verify` against a file. */
export interface EarlierFinding {
  /** What it says against the snapshot. Empty if the new manifest replaces it, because it was about the old one. */
  readonly standing: Pick<WholeEntry, 'verification'> & Partial<Pick<Unusable, 'problem' | 'unread'>>;
  readonly isReplaced: boolean;
  /** It stands, but was made under another id, and must be written again to count. */
  readonly isOfOtherId?: boolean;
  readonly detail: string;
  /** What the finding says itself. */
  readonly own: EarlierFinding['standing'];
  /** The whole finding, to notice that it was written again. */
  readonly text: string;
}

/** Reads the finding. Returns undefined if there is none, or none against the file. */
export async function readEarlier(
  store: Store,
  manifestKey: string,
  id: string,
  options: CallOptions,
): Promise<EarlierFinding | undefined> {
  const key = verificationKeyOf(manifestKey);
  const read = (await store.stat(key, options)) && (await readVerification(store, key, options));
  if (!read) return undefined;
  if ('problem' in read)
    return { standing: read, own: read, isReplaced: false, detail: read.problem, text: read.problem };
  const { verification } = read;
  if (verification.outcome !== 'failed') return undefined;
  const own = { verification: { ...verification, id } };
  const isReplaced = verification.damaged === true;
  return {
    ...{ own, standing: isReplaced ? {} : own, isReplaced, isOfOtherId: verification.id !== id },
    ...{ detail: verification.detail ?? 'FAILED', text: JSON.stringify(verification) },
  };
}

/** Reads the finding again before it is replaced. One that `verify` wrote meanwhile stands, whatever it is about. */
export async function readAgain(
  store: Store,
  manifestKey: string,
  id: string,
  before: EarlierFinding | undefined,
  options: CallOptions,
): Promise<EarlierFinding | undefined> {
  const now = await readEarlier(store, manifestKey, id, options);
  if (!now?.isReplaced || (before && now.text === before.text)) return now;
  return { ...now, isReplaced: false, standing: now.own };
}

/** Makes a finding that stands count. Under an exact key, the new id is not that of the lost manifest. */
export async function keepEarlier(
  store: Store,
  manifestKey: string,
  { standing: { verification }, isOfOtherId }: EarlierFinding,
  options: CallOptions,
): Promise<void> {
  if (isOfOtherId && verification) await putJson(store, verificationKeyOf(manifestKey), verification, options);
}

/** Replaces the finding, once the manifest is written. Returns why it could not, or undefined. */
export async function replaceEarlier(
  store: Store,
  manifestKey: string,
  { id, createdAt, verified, agent }: SnapshotManifest,
  detail: string,
  options: CallOptions,
): Promise<string | undefined> {
  const at = verified?.at ?? createdAt;
  const finding: Verification = {
    schema: VERIFICATION_SCHEMA,
    id,
    level: 'open',
    outcome: 'verified',
    detail,
    at,
    agent,
  };
  try {
    await putJson(store, verificationKeyOf(manifestKey), finding, options);
    return undefined;
  } catch (error) {
    options.signal?.throwIfAborted();
    return messageOf(error);
  }
}

/** What became of the finding, and what can be done about it. */
export interface Became {
  readonly text: string;
  readonly finding?: Finding;
}

export function whatBecame(
  { standing, isReplaced, detail }: EarlierFinding,
  { id, object }: SnapshotManifest,
  manifestKey: string,
  { dryRun = false, failure }: { readonly dryRun?: boolean; readonly failure?: string | undefined } = {},
): Became {
  const objectKey = manifestKey === exactManifestKey(object.key) ? object.key : undefined;
  const stands = (text: string, state: 'stands' | 'damaged' | 'left'): Became => ({
    text: `it is not verified: ${text}`,
    finding: { kind: 'earlierFinding', id, objectKey, state },
  });
  if (failure !== undefined) return stands(`what \`verify\` found before could not be replaced: ${failure}`, 'left');
  if (isReplaced) return { text: `${dryRun ? 'would replace' : 'replaces'} what \`verify\` found before: ${detail}` };
  if (standing.unread === 'damaged') return stands(detail, 'damaged');
  if (standing.unread) return { text: `it is not verified: ${detail}` };
  return stands(`what \`verify\` found before stands: ${detail}`, 'stands');
}
