import * as z from 'zod/mini';
import { tryDuration } from '../lib/input/duration.ts';
import { retentionSpec } from './retention-spec.ts';

const HOST_KEY = /^(SHA256:[A-Za-z0-9+/]{43}=?|(ssh|ecdsa)-\S+ +[A-Za-z0-9+/]{40,}=*( .*)?)$/;

/** An S3 bucket, in the form of `--config`, of `--store` (as JSON) and of the constructs. Unknown fields are errors. */
export const s3Spec = z.strictObject({
  bucket: z.string().check(z.minLength(3)),
  prefix: z.optional(z.string()),
  region: z.optional(z.string()),
  /** Default scheme: https. Empty: AWS. */
  endpoint: z.optional(z.string()),
  /** Default: path style for custom endpoints, virtual-hosted style on AWS. */
  pathStyle: z.optional(z.boolean()),
  /** A PEM file with the certificate authorities of a custom endpoint. */
  caFile: z.optional(z.string()),
  /**
   * A directory with a Secret's files. Default: the AWS default chain (environment, shared files, workload identity).
   */
  credentialsDirectory: z.optional(z.string()),
  /** The profile within the AWS shared files. */
  profile: z.optional(z.string()),
  serverSideEncryption: z.optional(z.enum(['AES256', 'aws:kms'])),
  kmsKeyId: z.optional(z.string()),
  /** SSE-C: a file with 32 bytes, raw or in base64, that the server encrypts with and does not keep. */
  sseCustomerKeyFile: z.optional(z.string()),
});
export type S3Spec = z.infer<typeof s3Spec>;

/** Alibaba Cloud OSS, through its S3-compatible endpoint. */
export const ossSpec = z.strictObject({
  bucket: z.string().check(z.minLength(3)),
  prefix: z.optional(z.string()),
  /** Default: the endpoint's region, else cn-hangzhou. */
  region: z.optional(z.string()),
  /** Default: the region's public endpoint. Within Alibaba's network: `oss-<region>-internal.aliyuncs.com`. */
  endpoint: z.optional(z.string()),
  /** A PEM file with the certificate authorities of a custom endpoint. */
  caFile: z.optional(z.string()),
  /** A directory with a Secret's files: `accessKeyID` and `accessKeySecret`. */
  credentialsDirectory: z.optional(z.string()),
});
export type OssSpec = z.infer<typeof ossSpec>;

export const filesystemSpec = z.strictObject({ path: z.string().check(z.regex(/^\//, 'must be an absolute path')) });
export type FilesystemSpec = z.infer<typeof filesystemSpec>;

/** Executables that the user provides, one per verb. docs/backups/command-store.md is their contract. */
export const commandSpec = z.strictObject({
  /** The directory with the executables. */
  path: z.string().check(z.regex(/^\//, 'must be an absolute path')),
  /** Environment of the executables, besides PATH, HOME and TMPDIR. No secrets: put those into files. */
  env: z.optional(
    z.record(z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a valid variable name')), z.string()),
  ),
  /** A directory with a Secret's files. The executables find its path in CREDENTIALS_DIRECTORY. */
  credentialsDirectory: z.optional(z.string().check(z.regex(/^\//, 'must be an absolute path'))),
  /** Longest time without a sign of life from an executable, for example `5m`. */
  idleTimeout: z.optional(
    z.string().check(z.refine((text) => Boolean(tryDuration(text)), 'is not a valid duration; write 90s or 5m')),
  ),
});
export type CommandSpec = z.infer<typeof commandSpec>;

export const sftpSpec = z.strictObject({
  host: z.string().check(z.regex(/^[^\s/@?#[\]]+$/, 'must be a host name or an address')),
  /** Default: 22. */
  port: z.optional(z.int().check(z.gte(1), z.lte(65_535))),
  /** Default: the Secret's `username`. */
  username: z.optional(z.string().check(z.minLength(1))),
  /** The directory, created if it is missing. A relative path starts at the login directory, which is the default. */
  path: z.optional(z.string()),
  /** A directory with a Secret's files: `username`, `password`, `privateKey`, `passphrase`, `knownHosts`. */
  credentialsDirectory: z.optional(z.string()),
  /** A file in the format of OpenSSH's known_hosts. */
  knownHostsFile: z.optional(z.string()),
  /** The server's key: its fingerprint `SHA256:…`, or a public key line. Takes precedence over known hosts. */
  hostKey: z.optional(z.string().check(z.regex(HOST_KEY, 'must be SHA256:… or a key line such as ssh-ed25519 AAAA…'))),
  /**
   * Also accepts key exchange with SHA-1 (diffie-hellman-group1-sha1 and similar) and `ssh-rsa`, for old servers
   * only.
   */
  legacyAlgorithms: z.optional(z.boolean()),
});
export type SftpSpec = z.infer<typeof sftpSpec>;

const kinds = ['s3', 'oss', 'sftp', 'filesystem', 'command'] as const;

export const storeSpec = z
  .strictObject({
    s3: z.optional(s3Spec),
    oss: z.optional(ossSpec),
    sftp: z.optional(sftpSpec),
    filesystem: z.optional(filesystemSpec),
    command: z.optional(commandSpec),
    retention: z.optional(retentionSpec),
  })
  .check(
    z.refine((spec) => kinds.filter((kind) => spec[kind]).length === 1, `name exactly one of ${kinds.join(', ')}`),
  );
export type StoreSpec = z.infer<typeof storeSpec>;
