import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import { isTooDeep } from '../../lib/input/depth.ts';
import { describeIssue } from '../../lib/input/schema-issue.ts';
import type { CallOptions, PutOptions, Store } from '../../store/store.ts';
import { takingKey } from './keys.ts';
import {
  MANIFEST_SCHEMA,
  manifestSchema,
  type SnapshotManifest,
  VERIFICATION_SCHEMA,
  type Verification,
  verificationSchema,
} from './manifest.ts';

const MAX_DOCUMENT = 1024 * 1024;
const familyOf = (schema: string) => schema.replace(/[^/]*$/, '');
/** The number after the last slash. Without one, nothing says that the document is newer. */
const versionOf = (schema: string) => Number.parseFloat(schema.replace(/^.*\/v/, ''));

/**
 * Why a document cannot be used. With `unread`, the state of the snapshot is not known; `damaged` occurs only for a
 * finding, `unreachable` only in a catalog.
 */
export interface Unusable {
  readonly problem: string;
  readonly unread?: 'newer' | 'refused' | 'damaged' | 'unreachable';
  /** The document is whole, but of another program. */
  readonly isForeign?: true;
}

/** Returns the manifest, or why it cannot be used, or undefined if it was deleted meanwhile. */
export async function readManifest(
  store: Store,
  key: string,
  options: CallOptions,
): Promise<{ readonly manifest: SnapshotManifest } | Unusable | undefined> {
  const read = await readKnown(store, key, MANIFEST_SCHEMA, 'its manifest', options);
  if (read === undefined || 'problem' in read) return read;
  const parsed = manifestSchema.safeParse(read.document);
  if (parsed.success && parsed.data.schema === MANIFEST_SCHEMA) return { manifest: parsed.data };
  const problem = 'its manifest cannot be read: it is damaged, or this agent did not write it';
  const { schema } = (read.document ?? { schema: MANIFEST_SCHEMA }) as { schema?: unknown };
  return schema === MANIFEST_SCHEMA ? { problem } : { problem, isForeign: true };
}

/** Throws unless this agent could read the manifest again. Called before a manifest is written. */
export function checkManifest(manifest: SnapshotManifest): void {
  const { error } = manifestSchema.safeParse(manifest);
  if (error) throw new Error(`the manifest of ${manifest.id} is not valid and is not written: ${describeIssue(error)}`);
}

/** Returns the finding of `verify`, or why it cannot be read, or undefined if it was deleted meanwhile. */
export async function readVerification(
  store: Store,
  key: string,
  options: CallOptions,
): Promise<{ readonly verification: Verification } | Unusable | undefined> {
  const what = 'the finding of `verify`';
  const read = await readKnown(store, key, VERIFICATION_SCHEMA, what, options);
  if (read === undefined || 'problem' in read) return read;
  const parsed = verificationSchema.safeParse(read.document);
  if (parsed.success && parsed.data.schema === VERIFICATION_SCHEMA) {
    const { id, detail } = parsed.data;
    return { verification: { ...parsed.data, ...(detail !== undefined && { detail: withoutId(detail, id) }) } };
  }
  const problem = `${what} cannot be read: ${key} is damaged`;
  return { problem, unread: 'damaged' };
}

/** The detail of a finding, which often begins with the id, for a line that begins with it too. */
export const withoutId = (detail: string, id: string): string =>
  detail.startsWith(`${id}: `) ? detail.slice(id.length + 2) : detail;

/** Reads a document of one of our schemas. If the store refuses this one, that is a problem of this snapshot alone. */
async function readKnown(
  store: Store,
  key: string,
  known: string,
  what: string,
  options: CallOptions,
): Promise<{ readonly document: unknown } | Unusable | undefined> {
  const text = await orRefused(what, orNothing(readText(store, key, options)));
  if (text === undefined || typeof text === 'object') return text;
  const document = tryJson(text);
  const schema = (document as { schema?: unknown } | undefined)?.schema;
  if (typeof schema === 'string' && schema.startsWith(familyOf(known)) && versionOf(schema) > versionOf(known)) {
    return {
      problem: `${what} has the schema '${schema}', but this agent reads ${known}; use a newer agent`,
      unread: 'newer',
    };
  }
  return { document };
}

/**
 * Returns the result of the call, or that the store refuses it: the object is in cold storage, its encryption key was
 * withdrawn, or the credentials may not read it.
 */
export const orRefused = <T>(what: string, call: Promise<T>): Promise<T | Unusable> =>
  call.catch((error): Unusable => {
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.storeRefused) throw error;
    return { problem: `${what} cannot be read: ${messageOf(error)}`, unread: 'refused' };
  });

/** Reads a manifest as it was written, with the fields that a newer agent may have added. */
export async function readDocument(
  store: Store,
  key: string,
  options: CallOptions,
): Promise<Record<string, unknown> | undefined> {
  const document = tryJson(await readText(store, key, options));
  return typeof document === 'object' ? (document as Record<string, unknown>) : undefined;
}

/** Returns undefined if the object does not exist. */
export const orNothing = <T>(read: Promise<T>): Promise<T | undefined> =>
  read.catch((error) => {
    if (error instanceof AgentError && error.exitCode === ExitCode.nothingThere) return undefined;
    throw error;
  });

/** Reads a small object. Returns an empty text if it is larger than 1 MiB. */
export async function readText(store: Store, key: string, options: CallOptions): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of await store.get(key, options)) {
    length += chunk.length;
    if (length > MAX_DOCUMENT) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tryJson(text: string): unknown {
  try {
    const document: unknown = JSON.parse(text);
    // A copy writes fields again that it does not know.
    return isTooDeep(document) ? undefined : document;
  } catch {
    return undefined;
  }
}

/** Writes a small JSON document. */
export const putJson = (store: Store, key: string, document: unknown, options: PutOptions): Promise<void> =>
  putText(store, key, `${JSON.stringify(document, null, 2)}\n`, options);

export async function putText(store: Store, key: string, text: string, options: PutOptions): Promise<void> {
  const bytes = Buffer.from(text);
  await store.put(
    key,
    (async function* () {
      yield bytes;
    })(),
    { ...options, sizeHint: bytes.length },
  );
}

/** The cluster id of the etcd that a backup was storing. Undefined if its marker does not name one. */
export async function etcdOfTaking(
  store: Store,
  folder: string,
  id: string,
  options: CallOptions,
): Promise<string | undefined> {
  const marker = await orNothing(readDocument(store, takingKey(folder, id), options));
  return typeof marker?.clusterId === 'string' ? marker.clusterId : undefined;
}
