import * as z from 'zod/mini';

/** The first part of every manifest's schema; what follows the last slash is its major version. */
export const MANIFEST_SCHEMA = 'cdk8s-etcd/snapshot/v1';

export const compressions = ['none', 'gzip', 'zstd'] as const;
export type Compression = (typeof compressions)[number];

export const levels = ['stream', 'read', 'open'] as const;
/** How much a verification proves, each including the one before. */
export type Level = (typeof levels)[number];

const count = z.int().check(z.nonnegative());
const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
/** etcd's 64-bit ids, in hex as etcdctl prints them. */
const etcdId = z.string().check(z.regex(/^[0-9a-f]{1,16}$/));
const instant = z.iso.datetime();
/** Of an object in the store. Whether the store takes it as a key is another question. */
const objectKey = z.string().check(z.minLength(1));

const hashKV = z.object({
  revision: count,
  /** −1: never compacted. */
  compactRevision: z.int(),
  hash: count,
  /** How many other voters gave the same hash at the same compact revision. */
  membersAgreeing: count,
});
export type HashKV = z.infer<typeof hashKV>;

const verified = z.object({ level: z.enum(levels), at: instant });

/** What lies beside every snapshot, written last: it is the commit. Unknown fields are ignored. */
export const manifestSchema = z.object({
  schema: z.string(),
  id: z.string(),
  createdAt: instant,
  cluster: z.object({
    name: z.string(),
    namespace: z.optional(z.string()),
    /** The etcd cluster ids that this cluster was restored from, newest first. */
    lineage: z.optional(z.array(etcdId)),
  }),
  source: z.object({
    clusterId: z.union([etcdId, z.literal('unknown')]),
    memberId: z.optional(etcdId),
    endpoint: z.optional(z.string()),
    role: z.optional(z.enum(['leader', 'follower', 'survivor'])),
    version: z.optional(z.string()),
    storageVersion: z.optional(z.string()),
    alarms: z.array(z.string()),
    dbSize: z.optional(count),
    dbSizeInUse: z.optional(count),
    /** Why the source's data are in doubt: `Corrupt`, `MembersInconsistent`. Such a snapshot never counts as verified. */
    suspect: z.optional(z.array(z.string())),
  }),
  /** Every member of the etcd, as it lists them; only where it was asked. */
  members: z.optional(
    z.array(
      z.object({
        id: etcdId,
        name: z.string(),
        peerUrls: z.array(z.string()),
        clientUrls: z.array(z.string()),
        isLearner: z.optional(z.boolean()),
      }),
    ),
  ),
  /** The machine that the backup ran on, where it was told to look: beside etcd, not in a pod of its own. */
  host: z.optional(
    z.object({
      nodeName: z.optional(z.string()),
      /** What its etcd runs with: from its static pod's manifest, or from the process. */
      etcd: z.optional(
        z.object({
          from: z.enum(['static-pod', 'process']),
          image: z.optional(z.string()),
          /** The executable, and its arguments. */
          command: z.array(z.string()),
        }),
      ),
    }),
  ),
  /** Files of that machine, in an object of their own: a tar file, encrypted with age. */
  extra: z.optional(
    z.object({
      key: objectKey,
      sizeBytes: count,
      sha256,
      /** What was asked for, files and directories. */
      paths: z.array(z.string()),
      recipients: z.array(z.string()),
    }),
  ),
  content: z.object({
    sizeBytes: count,
    sha256,
    trailerSha256: sha256,
    hashKV: z.optional(hashKV),
    /** Of the data when they were asked for, also where no hash could be had: the compact revision has none. */
    revision: z.optional(count),
  }),
  object: z.object({
    key: objectKey,
    sizeBytes: count,
    sha256,
    etag: z.optional(z.string()),
    parts: z.optional(count),
    compression: z.enum(compressions),
    /** With age, after compression. */
    encryption: z.optional(
      z.object({
        /** Public keys; none: not known, as the snapshot was taken by something else. */
        recipients: z.array(z.string()),
      }),
    ),
  }),
  timing: z.object({ startedAt: instant, finishedAt: instant, seconds: z.number() }),
  trigger: z.string(),
  /** Who asked for it: such a request is met once. */
  request: z.optional(z.string()),
  verified: z.optional(verified),
  agent: z.object({ version: z.string() }),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** The snapshot holds this revision, and may hold newer ones: writes go on while it is taken. */
export const revisionOf = ({ content }: Pick<Brief, 'content'>): number | undefined =>
  content.hashKV?.revision ?? content.revision;

export type Host = NonNullable<Manifest['host']>;
export type Extra = NonNullable<Manifest['extra']>;

/** What a later `verify` found, beside the manifest, which is never rewritten. */
export const VERIFICATION_SCHEMA = 'cdk8s-etcd/verification/v1';
export const verificationSchema = z.object({
  schema: z.string(),
  id: z.string(),
  level: z.enum(levels),
  outcome: z.enum(['verified', 'failed', 'inconclusive']),
  at: instant,
  detail: z.optional(z.string()),
  agent: z.object({ version: z.string() }),
});
export type Verification = z.infer<typeof verificationSchema>;

const { shape } = manifestSchema;
/** What a list of all snapshots keeps of each: there may be ten thousand. */
export const briefSchema = z.object({
  ...z.pick(manifestSchema, { id: true, createdAt: true, cluster: true, verified: true, request: true }).shape,
  source: z.pick(shape.source, { clusterId: true, suspect: true }),
  content: z.pick(shape.content, { sizeBytes: true, sha256: true, hashKV: true, revision: true }),
  object: z.pick(shape.object, { key: true, sizeBytes: true, sha256: true, encryption: true }),
  extra: z.optional(z.object({ key: objectKey })),
});
export type Brief = z.infer<typeof briefSchema>;

export const foundSchema = z.pick(verificationSchema, { level: true, outcome: true, detail: true });
