import * as z from 'zod/mini';
import { retentionSpec } from '../backup/retention-spec.ts';

/** One store, as `--config`, `--store` (as JSON) and the constructs write it. Unknown fields are mistakes. */
export const s3Spec = z.strictObject({
  bucket: z.string().check(z.minLength(3)),
  prefix: z.optional(z.string()),
  region: z.optional(z.string()),
  /** Without a scheme https is meant; empty means AWS. */
  endpoint: z.optional(z.string()),
  /** Default: path style for custom endpoints, virtual-hosted style on AWS. */
  pathStyle: z.optional(z.boolean()),
  /** A PEM file with the certificate authorities of a custom endpoint. */
  caFile: z.optional(z.string()),
  /** A directory with a Secret's files; without it the AWS default chain (environment, shared files, workload identity). */
  credentialsDirectory: z.optional(z.string()),
  /** The profile within the AWS shared files. */
  profile: z.optional(z.string()),
  serverSideEncryption: z.optional(z.enum(['AES256', 'aws:kms'])),
  kmsKeyId: z.optional(z.string()),
});
export type S3Spec = z.infer<typeof s3Spec>;

export const filesystemSpec = z.strictObject({ path: z.string().check(z.regex(/^\//, 'must be an absolute path')) });
export type FilesystemSpec = z.infer<typeof filesystemSpec>;

export const storeSpec = z
  .strictObject({
    s3: z.optional(s3Spec),
    filesystem: z.optional(filesystemSpec),
    retention: z.optional(retentionSpec),
  })
  .check(
    z.refine((spec) => [spec.s3, spec.filesystem].filter(Boolean).length === 1, 'name exactly one of s3, filesystem'),
  );
export type StoreSpec = z.infer<typeof storeSpec>;
