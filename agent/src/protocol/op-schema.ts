import * as z from 'zod/mini';
import type { Op, RestoreArgs, RestoreOp } from './record.ts';
import { anything, count, type SchemaShape, text } from './schema-parts.ts';

type Kind<K extends Op['kind']> = Extract<Op, { kind: K }>;

const base = { id: text, holder: text, startedAt: text };

const addLearner = z.looseObject({
  ...base,
  kind: z.literal('AddLearner'),
  ordinal: count,
  volumeId: text,
} satisfies SchemaShape<Kind<'AddLearner'>>);

const promote = z.looseObject({
  ...base,
  kind: z.literal('Promote'),
  ordinal: count,
  memberId: text,
} satisfies SchemaShape<Kind<'Promote'>>);

const remove = z.looseObject({
  ...base,
  kind: z.literal('Remove'),
  ordinal: count,
  memberId: text,
  why: z.enum(['Dead', 'Forced', 'Learner', 'Shrink', 'Roll']),
  step: z.enum(['remove', 'claim']),
  claimUid: z.optional(text),
} satisfies SchemaShape<Kind<'Remove'>>);

const deletePod = z.looseObject({
  ...base,
  kind: z.literal('DeletePod'),
  ordinal: count,
  podUid: text,
  version: z.optional(text),
  nextVersion: text,
} satisfies SchemaShape<Kind<'DeletePod'>>);

const args = z.looseObject({
  id: text,
  uid: text,
  specHash: text,
  source: z.optional(anything),
  identitySecret: z.optional(text),
  sha256: z.optional(text),
  expectedRevision: z.optional(count),
  safetyBackup: z.boolean(),
  safetyBackupId: z.optional(text),
  ignoreUnreachablePods: z.boolean(),
  sourceToken: text,
  verified: z.optional(z.looseObject({ id: z.optional(text), sha256: text, sizeBytes: count, revision: count })),
  lastRevision: z.optional(count),
  survivor: z.optional(z.looseObject({ ordinal: count, memberId: text, podUid: text, volumeId: text })),
  salvageToken: z.optional(text),
  failed: z.optional(z.looseObject({ reason: text, message: text })),
} satisfies SchemaShape<RestoreArgs>);

const ofSnapshot = ['source', 'verified'] as const;

/** What each step of a restore takes from the steps before it. The backup of a roll has no survivor. */
const needs: Readonly<Record<RestoreOp['step'], readonly (keyof RestoreArgs)[]>> = {
  backup: ['survivor'],
  salvage: ['survivor'],
  verify: ['source'],
  safety: ofSnapshot,
  fence: ofSnapshot,
  drain: ofSnapshot,
  seed: ofSnapshot,
  restore: ofSnapshot,
  report: ['failed'],
};

function lacking({ kind, step, args }: Pick<RestoreOp, 'kind' | 'step' | 'args'>): keyof RestoreArgs | undefined {
  if (kind === 'Restore' && step === 'backup') return undefined;
  return needs[step].find((field) => args[field] === undefined);
}

const restore = z
  .looseObject({
    ...base,
    kind: z.enum(['Restore', 'Recover']),
    step: z.enum(['backup', 'salvage', 'verify', 'safety', 'fence', 'drain', 'seed', 'restore', 'report']),
    args,
    suspended: z.optional(z.lazy((): z.ZodMiniType<Op> => op)),
  } satisfies SchemaShape<RestoreOp>)
  .check(({ value, issues }) => {
    const field = lacking(value);
    if (field === undefined) return;
    const message = `step ${value.step} needs it`;
    issues.push({ code: 'custom', input: value, path: ['args', field], message });
  });

const upgrade = z.looseObject({ ...base, kind: z.literal('Upgrade'), to: text } satisfies SchemaShape<Kind<'Upgrade'>>);

const clearNoSpace = z.looseObject({
  ...base,
  kind: z.literal('ClearNoSpace'),
  step: z.enum(['compact', 'defrag', 'disarm']),
  revision: count,
  deep: z.optional(z.literal(true)),
  done: z.array(text),
} satisfies SchemaShape<Kind<'ClearNoSpace'>>);

const defragment = z.looseObject({
  ...base,
  kind: z.literal('Defragment'),
  at: text,
  ordinal: z.optional(count),
  present: z.optional(z.looseObject({ memberId: text, pod: text, before: count, by: text })),
  done: z.array(z.looseObject({ memberId: text, pod: text, before: count, after: z.optional(count) })),
} satisfies SchemaShape<Kind<'Defragment'>>);

const moveLeader = z.looseObject({
  ...base,
  kind: z.literal('MoveLeader'),
  at: text,
  by: text,
  to: text,
} satisfies SchemaShape<Kind<'MoveLeader'>>);

const deletion = z.looseObject({
  ...base,
  kind: z.literal('Delete'),
  step: z.enum(['backup', 'scale', 'claims']),
  suspended: z.optional(z.lazy((): z.ZodMiniType<Op> => op)),
} satisfies SchemaShape<Kind<'Delete'>>);

export const op: z.ZodMiniType<Op> = z.discriminatedUnion('kind', [
  ...[addLearner, promote, remove, deletePod],
  ...[restore, upgrade, clearNoSpace, defragment, moveLeader, deletion],
] as const);
