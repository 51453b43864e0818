import * as z from 'zod/mini';

/** The first part of every manifest's schema; what follows the last slash is its major version. */
export const MANIFEST_SCHEMA = 'cdk8s-etcd/snapshot/v1';

export const compressions = ['none', 'gzip', 'zstd'] as const;
export type PayloadCompression = (typeof compressions)[number];

export const levels = ['stream', 'read', 'open'] as const;
/** How much a verification proves. Each level includes the one before. */
export type Level = (typeof levels)[number];

const count = z.int().check(z.nonnegative());
const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
/** etcd's 64-bit ids, in hex as etcdctl prints them. */
const ETCD_ID = /^[0-9a-f]{1,16}$/;
const etcdId = z.string().check(z.regex(ETCD_ID));
export const isEtcdId = (text: string): boolean => ETCD_ID.test(text);
const instant = z.iso.datetime();
/** Key of an object in the store. It need not be one that the store accepts. */
const objectKey = z.string().check(z.minLength(1));

const hashKV = z.object({
  revision: count,
  /** −1 if the source was never compacted. */
  compactRevision: z.int(),
  hash: count,
  /** How many other voters returned the same hash at the same compact revision. */
  membersAgreeing: count,
});
export type HashKV = z.infer<typeof hashKV>;

const verified = z.object({ level: z.enum(levels), at: instant });

/** The document beside every snapshot. It is written last and commits the snapshot. Unknown fields are ignored. */
export const manifestSchema = z.object({
  schema: z.string(),
  id: z.string(),
  createdAt: instant,
  cluster: z.object({
    name: z.string(),
    namespace: z.optional(z.string()),
    /** The etcd cluster ids that this cluster was restored from, newest first. */
    lineage: z.optional(z.array(etcdId)),
    /**
     * When this etcd and those that restores connect with it are known to have run, by the snapshots of this folder. It
     * outlives those that retention deletes. `first` is absent if an earlier one may have been deleted.
     */
    family: z.optional(z.array(z.object({ id: etcdId, first: z.optional(instant), last: z.optional(instant) }))),
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
    /**
     * Why the source's data are doubtful: `Corrupt`, `MembersInconsistent`. Such a snapshot never counts as verified.
     */
    suspect: z.optional(z.array(z.string())),
  }),
  /** Every member as etcd lists them, if etcd was asked, or as an adopted snapshot does. */
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
  /**
   * The machine that the backup ran on; only if the backup was asked to describe it, because it runs beside etcd and
   * not in a pod of its own.
   */
  host: z.optional(
    z.object({
      nodeName: z.optional(z.string()),
      /** How etcd is started on it, from the static pod's manifest or from the process. */
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
  /** Files of that machine, stored as a separate object: a tar file, encrypted with age. */
  extra: z.optional(
    z.object({
      key: objectKey,
      sizeBytes: count,
      sha256,
      /** Files and directories that were requested. */
      paths: z.array(z.string()),
      recipients: z.array(z.string()),
    }),
  ),
  content: z.object({
    sizeBytes: count,
    sha256,
    trailerSha256: sha256,
    hashKV: z.optional(hashKV),
    /**
     * Revision of the data when the snapshot was requested. Present even if no hash could be computed, which is the
     * case at the compact revision.
     */
    revision: z.optional(count),
  }),
  object: z.object({
    key: objectKey,
    sizeBytes: count,
    sha256,
    etag: z.optional(z.string()),
    parts: z.optional(count),
    /** Of an adopted file: when it was written, by the store's clock. Another program may write it again. */
    modified: z.optional(instant),
    compression: z.enum(compressions),
    /** Encrypted with age, after compression. */
    encryption: z.optional(
      z.object({
        /** Public keys. Empty if they are not known, because another tool took the snapshot. */
        recipients: z.array(z.string()),
      }),
    ),
  }),
  /**
   * Copies of the payload under names of the user's, made after the manifest was written: one may be missing, or be that of
   * another snapshot, as the manifest beside it says. `kept`: retention keeps the newest snapshot under the key.
   */
  exports: z.optional(z.array(z.object({ key: objectKey, kept: z.optional(z.boolean()) }))),
  /** This is the manifest beside such a copy. The snapshot is in the folder of the cluster, under its id. */
  isExport: z.optional(z.boolean()),
  /** The copy is being made. */
  isPending: z.optional(z.boolean()),
  timing: z.object({ startedAt: instant, finishedAt: instant, seconds: z.number() }),
  trigger: z.string(),
  /** Id of the request that the snapshot was taken for. A repeated request does not take another snapshot. */
  request: z.optional(z.string()),
  verified: z.optional(verified),
  /**
   * Since when the snapshots before it in its folder are known to be of the same etcd, whose revision never fell. It outlives those
   * that retention deletes.
   */
  sameEtcdSince: z.optional(instant),
  /**
   * Until when. After that, a run of another etcd may have added one that this run did not see. Without it, `sameEtcdSince` says
   * nothing.
   */
  sameEtcdUntil: z.optional(instant),
  agent: z.object({ version: z.string() }),
});
export type SnapshotManifest = z.infer<typeof manifestSchema>;

export interface WithRevision {
  readonly content: Pick<SnapshotManifest['content'], 'hashKV' | 'revision'>;
}

/**
 * Returns a revision that the snapshot is known to hold. It may hold newer ones, because writes continue while it is
 * taken.
 */
export const revisionOf = ({ content }: WithRevision): number | undefined =>
  content.hashKV?.revision ?? content.revision;

/** Why the data of an etcd with these alarms are doubtful, whichever member raised them. Empty: they are not. */
export const suspectBy = (alarms: readonly string[]): string[] => (alarms.includes('CORRUPT') ? ['Corrupt'] : []);

export type Host = NonNullable<SnapshotManifest['host']>;
export type Extra = NonNullable<SnapshotManifest['extra']>;

/** The finding of a later `verify`, stored beside the manifest, which is never rewritten. */
export const VERIFICATION_SCHEMA = 'cdk8s-etcd/verification/v1';
export const verificationSchema = z.object({
  schema: z.string(),
  id: z.string(),
  level: z.enum(levels),
  outcome: z.enum(['verified', 'failed', 'inconclusive']),
  at: instant,
  detail: z.optional(z.string()),
  /** The payload is not what the manifest describes, so that no restore accepts it. Otherwise only its data are doubtful. */
  damaged: z.optional(z.boolean()),
  /** Of an adopted file: when the file that was verified was written, by the store's clock. */
  modified: z.optional(instant),
  agent: z.object({ version: z.string() }),
});
export type Verification = z.infer<typeof verificationSchema>;

const { shape } = manifestSchema;
/** The part of a manifest that is kept in memory for each snapshot of a list: there may be ten thousand. */
export const briefSchema = z.object({
  ...z.pick(manifestSchema, {
    ...{ id: true, createdAt: true, cluster: true, verified: true, request: true, exports: true },
    ...{ sameEtcdSince: true, sameEtcdUntil: true },
  }).shape,
  source: z.pick(shape.source, { clusterId: true, suspect: true }),
  content: z.pick(shape.content, { sizeBytes: true, sha256: true, hashKV: true, revision: true }),
  object: z.pick(shape.object, { key: true, sizeBytes: true, sha256: true, encryption: true, modified: true }),
  extra: z.optional(z.object({ key: objectKey })),
});
export type Brief = z.infer<typeof briefSchema>;

export const foundSchema = z.pick(verificationSchema, {
  level: true,
  outcome: true,
  detail: true,
  damaged: true,
  modified: true,
});
