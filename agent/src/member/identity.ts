import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { codeOf } from '../lib/errors.ts';
import { replaceFile } from '../lib/files/replace-file.ts';
import { isTooDeep } from '../lib/input/depth.ts';
import { describeIssue } from '../lib/input/schema-issue.ts';
import type { Identity } from '../protocol/agent-status.ts';

/** Content of `identity.json`: the member to whom the data on the volume belong, and the permit that it used. */
export type StoredIdentity =
  | { readonly kind: 'none' }
  | { readonly kind: 'identity'; readonly identity: Identity }
  /** The file exists, but its content is not valid. */
  | { readonly kind: 'unreadable'; readonly why: string };

export const identityFile = (dataDir: string): string => join(dataDir, 'identity.json');

const count = z.int().check(z.nonnegative());

/** A loose object: a newer agent may add fields in the same format version, and this agent preserves them. */
const identitySchema = z.looseObject({
  v: z.literal(1),
  clusterUid: z.string().check(z.minLength(1)),
  epoch: count,
  token: z.string(),
  ordinal: count,
  volumeId: z.string(),
  permitId: z.string(),
  mode: z.string(),
  memberId: z.optional(z.string()),
  clusterId: z.optional(z.string()),
  clusterVersion: z.optional(z.string()),
  state: z.enum(['permitted', 'sealed']),
  lastRestoreId: z.optional(z.string()),
  lastVersion: z.string().check(z.regex(/^\d+\.\d+\.\d+/)),
  runs: count,
});

/** Messages of gate and sidecar about data that no identity explains. */
export const damagedIdentity = (why: string): string =>
  `identity.json on the volume is damaged (${why}); nothing was changed; find out whose data it is before you delete the claim`;
export const noIdentity =
  'the volume holds a write-ahead log, but no identity.json, which every member of this cluster writes first; nothing was changed; find out whose data it is before you delete the claim';

/** Throws only if the volume itself cannot be read. */
export async function readIdentity(dataDir: string): Promise<StoredIdentity> {
  let text: string;
  try {
    text = await readFile(identityFile(dataDir), 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { kind: 'none' };
    if (codeOf(error) === 'EISDIR') return { kind: 'unreadable', why: 'it is a directory' };
    throw error;
  }
  return parseIdentity(text);
}

export function parseIdentity(text: string): StoredIdentity {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return { kind: 'unreadable', why: 'it is not valid JSON' };
  }
  const version = (document as { v?: unknown } | null)?.v;
  if (typeof version === 'number' && version > 1)
    return {
      kind: 'unreadable',
      why: `its format is version ${version}, and this agent supports version 1: use a newer agent`,
    };
  if (isTooDeep(document)) return { kind: 'unreadable', why: 'it is nested too deep' };
  const parsed = identitySchema.safeParse(document);
  if (!parsed.success) return { kind: 'unreadable', why: describeIssue(parsed.error) };
  return { kind: 'identity', identity: parsed.data as Identity };
}

export async function writeIdentity(dataDir: string, identity: Identity): Promise<void> {
  await replaceFile(identityFile(dataDir), `${JSON.stringify(identity, null, 2)}\n`);
}
