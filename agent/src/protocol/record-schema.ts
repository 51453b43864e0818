import * as z from 'zod/mini';
import { isTooDeep } from '../lib/input/depth.ts';
import { describeIssue } from '../lib/input/schema-issue.ts';
import { op } from './op-schema.ts';
import type { MaintenanceResult, Reached, RecordDoc } from './record.ts';
import { byOrdinal, count, type SchemaShape, scheme, schemes, text } from './schema-parts.ts';

export type RecordAnswer =
  | { readonly kind: 'record'; readonly doc: RecordDoc }
  | { readonly kind: 'none' }
  /** The record exists, but this agent cannot use it. */
  | { readonly kind: 'refused'; readonly reason: string };

type Doc = RecordDoc;
type Permit = Doc['permits'][string];

const source = z.looseObject({ url: text, token: text, sha256: text } satisfies SchemaShape<
  NonNullable<Permit['restore']>['source']
>);

const permitFields = z.looseObject({
  id: text,
  ordinal: count,
  volumeId: text,
  epoch: count,
  mode: z.enum(['new', 'existing', 'restore', 'salvage']),
  token: text,
  initialCluster: text,
  memberId: z.optional(text),
  restore: z.optional(z.looseObject({ id: text, source, bumpRevision: count })),
  salvage: z.optional(z.looseObject({ token: text })),
  issuedAt: text,
} satisfies SchemaShape<Permit>);

const permit = permitFields.check(({ value, issues }) => {
  if (value.mode === 'restore' && !value.restore)
    issues.push({ code: 'custom', input: value, path: ['restore'], message: 'is missing' });
});

const member = z.looseObject({
  memberId: text,
  volumeId: text,
  epoch: count,
  everVoter: z.boolean(),
  restartedOn: z.optional(text),
  reached: z.optional(z.looseObject({ index: count, revision: count } satisfies SchemaShape<Reached>)),
} satisfies SchemaShape<Doc['members'][string]>);

const tombstone = z.looseObject({
  memberId: text,
  ordinal: count,
  epoch: count,
  at: text,
  why: text,
} satisfies SchemaShape<Doc['tombstones'][number]>);

const versions = z.looseObject({
  current: text,
  allowedMinors: z.array(text),
  bornOn: z.optional(text),
  finalizedIndex: z.optional(count),
  withoutBackup: z.optional(z.boolean()),
} satisfies SchemaShape<Doc['versions']>);

const fenced = z.looseObject({
  ...{ id: text, uid: text, specHash: text, at: text },
  snapshots: z.optional(z.array(text)),
} satisfies SchemaShape<Doc['restores'][number]>);

const result = z.looseObject({
  at: text,
  phase: z.enum(['Running', 'Completed', 'Failed']),
  message: text,
} satisfies SchemaShape<MaintenanceResult>);

const fields = z.looseObject({
  v: z.literal(1),
  rev: count,
  clusterUid: text,
  epoch: count,
  minEpoch: count,
  token: text,
  phase: z.enum(['Seeding', 'Running', 'Restoring']),
  seeded: z.boolean(),
  clusterId: z.optional(text),
  permits: byOrdinal(permit),
  members: byOrdinal(member),
  tombstones: z.array(tombstone),
  op: z.optional(op),
  versions,
  lastRestoreId: z.optional(text),
  lastRecoveryId: z.optional(text),
  restores: z.array(fenced),
  olderRestores: z.optional(z.array(z.looseObject({ id: text, specHash: text }))),
  failedRestores: z.optional(z.array(text)),
  lastBackup: z.optional(z.looseObject({ id: text, revision: count, sha256: text, at: text })),
  startRevision: z.optional(count),
  failure: z.optional(z.looseObject({ of: text, reason: text, message: text, revision: z.optional(count) })),
  spaceCleared: z.optional(z.looseObject({ at: text, before: z.optional(text) })),
  maintenance: z.optional(z.looseObject({ defragment: z.optional(result), moveLeader: z.optional(result) })),
  transport: z.optional(
    z.looseObject({
      ...schemes,
      target: scheme,
      since: z.optional(text),
      hadTls: z.optional(z.literal(true)),
    } satisfies SchemaShape<NonNullable<Doc['transport']>>),
  ),
} satisfies SchemaShape<Doc>);

const record = fields.check(({ value, issues }) => {
  const inFlight = value.op?.kind === 'Delete' ? value.op.suspended : value.op;
  const restores = (inFlight?.kind === 'Restore' || inFlight?.kind === 'Recover') && inFlight.step === 'restore';
  if (!restores || value.permits[0]?.mode === 'restore') return;
  // On another permit the seed would begin an empty cluster.
  const message = 'step restore needs a permit to restore';
  issues.push({ code: 'custom', input: value, path: ['permits', '0'], message });
});

const refused = (why: string): RecordAnswer => ({ kind: 'refused', reason: `the record is not usable: ${why}` });

/**
 * Parses and validates a record. A later release may add fields, which an older release ignores and preserves. A change that
 * no agent may ignore gets a new `v`. Refuses an unknown operation or mode.
 */
export function parseRecord(json: string): RecordAnswer {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // The error's message quotes the text, which contains tokens.
    return refused('it is not valid JSON');
  }
  const version = (value as { v?: unknown } | null)?.v;
  if (typeof version === 'number' && version > 1)
    return refused(`its format is version ${version}, and this agent supports version 1; use a newer agent image`);
  // Operations suspend each other, and unknown fields are written again.
  if (isTooDeep(value)) return refused('it is nested too deep');
  const parsed = record.safeParse(value);
  return parsed.success ? { kind: 'record', doc: parsed.data } : refused(describeIssue(parsed.error));
}
