import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { usageError } from '../../lib/errors.ts';
import { readFault } from '../../lib/files/file-faults.ts';
import { notBoolean, parseBoolean } from '../../lib/input/boolean.ts';
import { describeIssue } from '../../lib/input/schema-issue.ts';
import { parseYaml } from '../../lib/input/yaml.ts';
import { retentionSpec } from '../../store/retention-spec.ts';
import { storeSpec } from '../../store/spec.ts';

const texts = z.union([z.string(), z.array(z.string())]);
const text = z.optional(z.union([z.string(), z.number()]));
/** A text that may consist of digits. As a number it would lose some: 1234567890123456789, 49509e3, 0123. */
const QUOTED = 'must be text: write it in quotes';
const digits = z.string(QUOTED);
/** A boolean. Also accepts texts, because YAML 1.2 reads `yes` and `no` as texts. */
const flag = z.optional(
  z.pipe(
    z.union([z.boolean(), z.string(), z.number()], 'must be true or false'),
    z.transform((value, context) => {
      const parsed = parseBoolean(String(value));
      if (parsed !== undefined) return parsed;
      context.issues.push({ code: 'custom', message: notBoolean(String(value)), input: value });
      return z.NEVER;
    }),
  ),
);

/** Content of a `--config` file: flags by their names in camelCase. */
const configSchema = z.strictObject({
  stores: z.optional(z.array(z.union([z.string(), storeSpec]))),
  retention: z.optional(z.union([z.string(), retentionSpec])),
  endpoints: z.optional(texts),
  restoredFrom: z.optional(z.union([digits, z.array(digits)], QUOTED)),
  force: flag,
  cluster: text,
  namespace: text,
  clusterId: z.optional(digits),
  cacert: text,
  cert: text,
  key: text,
  user: text,
  userFile: text,
  passwordFile: text,
  dialTimeout: text,
  timeout: text,
  idleTimeout: text,
  sweepAge: text,
  keepFile: text,
  compression: text,
  ageRecipient: z.optional(texts),
  ageRecipientsFile: z.optional(texts),
  ageIdentityFile: z.optional(texts),
  verify: text,
  level: text,
  trigger: text,
  nodeName: text,
  etcdManifest: text,
  etcdProcess: flag,
  extraPath: z.optional(texts),
  extraAgeRecipient: z.optional(texts),
  request: text,
  requestAge: text,
  fileName: text,
  fileNameTimeZone: text,
  scratch: text,
  etcdutl: text,
  output: text,
  metricsFile: text,
  maxAge: text,
  interval: text,
  listen: text,
  snapshot: text,
  objectKey: text,
  sha256: z.optional(digits),
  adopt: flag,
  initialCluster: text,
  initialClusterToken: z.optional(digits),
  bumpRevision: text,
  serverVersion: text,
  acceptAuthentication: flag,
  forceFailed: flag,
  forceForeign: flag,
});
export type Config = z.infer<typeof configSchema>;

export async function readConfig(file: string): Promise<Config> {
  const content = await readFile(file, 'utf8').catch((error) => {
    throw usageError(`--config: cannot read ${file} ${readFault(error)}`);
  });
  let document: unknown;
  try {
    document = parseYaml(content);
  } catch (error) {
    throw usageError(`--config: ${file} is not valid YAML: ${String((error as Error).message).split('\n')[0]}`);
  }
  const parsed = configSchema.safeParse(document ?? {});
  if (!parsed.success) throw usageError(`--config: ${file}: ${describeIssue(parsed.error)}`);
  return parsed.data;
}
