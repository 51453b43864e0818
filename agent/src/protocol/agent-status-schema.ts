import * as z from 'zod/mini';
import { describeIssue } from '../lib/input/schema-issue.ts';
import type { AgentStatus, Identity } from './agent-status.ts';
import { count, type SchemaShape, schemes, text } from './schema-parts.ts';

type Part<K extends keyof AgentStatus> = NonNullable<AgentStatus[K]>;

const identity = z.looseObject({
  v: z.literal(1),
  clusterUid: text,
  epoch: count,
  token: text,
  ordinal: count,
  volumeId: text,
  permitId: text,
  mode: text,
  memberId: z.optional(text),
  clusterId: z.optional(text),
  state: z.enum(['permitted', 'sealed']),
  lastRestoreId: z.optional(text),
  lastVersion: text,
  clusterVersion: z.optional(text),
  runs: count,
} satisfies SchemaShape<Identity>);

const volume = z.looseObject({
  walPresent: z.boolean(),
  volumeId: z.optional(text),
  identity: z.optional(identity),
  freeBytes: z.number(),
  totalBytes: z.number(),
  quarantineCount: z.number(),
  snapIndex: z.optional(z.number()),
  orphanTmp: z.optional(z.number()),
} satisfies SchemaShape<Part<'volume'>>);

const etcd = z.looseObject({
  up: z.boolean(),
  memberId: text,
  clusterId: text,
  hasLeader: z.boolean(),
  isLeader: z.boolean(),
  isLearner: z.boolean(),
  term: z.number(),
  committedIndex: z.number(),
  appliedIndex: z.number(),
  version: text,
  clusterVersion: z.optional(text),
  dbSize: z.number(),
  dbInUse: z.number(),
  quota: z.optional(z.number()),
  upSince: text,
} satisfies SchemaShape<Part<'etcd'>>);

const root = z.looseObject({
  onDisk: z.optional(text),
  loaded: z.optional(text),
} satisfies SchemaShape<NonNullable<Part<'roots'>['peer']>>);

const roots = z.looseObject({ peer: z.optional(root), client: z.optional(root) } satisfies SchemaShape<Part<'roots'>>);

const salvage = z.looseObject({
  permitId: text,
  sha256: text,
  sizeBytes: count,
  revision: count,
  lastIndex: count,
  commit: count,
  url: text,
} satisfies SchemaShape<Part<'salvage'>>);

const status = z.looseObject({
  v: z.literal(1),
  pod: text,
  podUid: text,
  ordinal: count,
  agentVersion: text,
  etcdBinary: text,
  gate: z.optional(z.literal(true)),
  // A newer agent may have further states.
  state: text as unknown as z.ZodMiniType<AgentStatus['state']>,
  reason: z.optional(text),
  message: z.optional(text),
  podIp: z.optional(text),
  certificate: z.optional(z.looseObject({ notAfter: text } satisfies SchemaShape<Part<'certificate'>>)),
  transport: z.optional(
    z.looseObject({ ...schemes, hasCertificates: z.boolean() } satisfies SchemaShape<Part<'transport'>>),
  ),
  roots: z.optional(roots),
  leaves: z.optional(
    z.looseObject({ peer: z.optional(text), client: z.optional(text) } satisfies SchemaShape<Part<'leaves'>>),
  ),
  revocationLists: z.optional(
    z.looseObject({ peer: z.optional(text), client: z.optional(text) } satisfies SchemaShape<Part<'revocationLists'>>),
  ),
  volume,
  request: z.optional(
    z.looseObject({ volumeId: text, lastRestoreId: z.optional(text) } satisfies SchemaShape<Part<'request'>>),
  ),
  recordRev: z.optional(count),
  recordVersions: z.optional(
    z.looseObject({ epoch: count, bornOn: z.optional(text), finalizedIndex: z.optional(count) } satisfies SchemaShape<
      Part<'recordVersions'>
    >),
  ),
  recordPast: z.optional(
    z.looseObject({
      restores: z.array(z.looseObject({ id: text, uid: text, specHash: text })),
      olderRestores: z.optional(z.array(z.looseObject({ id: text, specHash: text }))),
      failedRestores: z.optional(z.array(text)),
      startRevision: z.optional(count),
    } satisfies SchemaShape<Part<'recordPast'>>),
  ),
  minEpoch: count,
  salvage: z.optional(salvage),
  etcd: z.optional(etcd),
} satisfies SchemaShape<AgentStatus>);

/** Validates a pod's answer. Throws if it is not the status of an agent: plan() must not use it. */
export function agentStatusOf(answer: unknown): AgentStatus {
  const parsed = status.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new Error(`the agent's status is not usable: ${describeIssue(parsed.error)}`);
}
