import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { type NamedCluster, namedCluster } from '../../backup/catalog/identity/folder.ts';
import type { WantedSnapshots } from '../../backup/catalog/identity/identity.ts';
import { isEtcdId } from '../../backup/catalog/manifest.ts';
import { isId } from '../../backup/catalog/snapshot-id.ts';
import type { Kept } from '../../backup/retention/retention.ts';
import { parseEndpoints } from '../../etcd/endpoints.ts';
import type { EtcdAccess } from '../../etcd/etcd-member.ts';
import { loadTls } from '../../etcd/tls.ts';
import { AgentError, ExitCode, usageError } from '../../lib/errors.ts';
import { readFault } from '../../lib/files/file-faults.ts';
import { parseDuration } from '../../lib/input/duration.ts';
import { describeIssue } from '../../lib/input/schema-issue.ts';
import { LONGEST } from '../../lib/limits/budget.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import { parseStore } from '../../store/open.ts';
import { type RetentionSpec, retentionSpec } from '../../store/retention-spec.ts';
import type { StoreSpec } from '../../store/spec.ts';
import { storeUrl } from '../../store/url.ts';
import { flagOf } from '../advice/flag-of.ts';
import type { Config } from './config-file.ts';
import type { Invocation } from './program.ts';

/** Milliseconds to read `--config`, without `--timeout`. */
const READING = 60_000;

/**
 * Settings of one run. Flags take precedence over environment variables, those over `--config`, and that over
 * defaults.
 */
export class Settings {
  readonly #invocation: Invocation;
  readonly #config: Config;

  private constructor(invocation: Invocation, config: Config) {
    this.#invocation = invocation;
    this.#config = config;
  }

  static async load(invocation: Invocation): Promise<Settings> {
    const file = invocation.flags.config as string | undefined;
    if (!file) return new Settings(invocation, {});
    const { readConfig } = await import('./config-file.ts');
    const limit = new Settings(invocation, {}).duration('timeout', '--timeout') ?? READING;
    return new Settings(invocation, await inTime(`--config: ${file}`, limit, readConfig(file)));
  }

  get args(): readonly string[] {
    return this.#invocation.args;
  }

  /** Whether a flag or an environment variable sets it. */
  #isGiven(name: string): boolean {
    const { flags, defaulted } = this.#invocation;
    return name in flags && !defaulted.has(name);
  }

  /** Whether the user sets it, in any way. Otherwise it has its default. */
  isSet(name: string): boolean {
    return this.#isGiven(name) || this.#config[name as keyof Config] !== undefined;
  }

  #value(name: string): unknown {
    const configured = this.#config[name as keyof Config];
    return this.#isGiven(name) || configured === undefined ? this.#invocation.flags[name] : configured;
  }

  text(name: string): string | undefined {
    const value = this.#value(name);
    return value === undefined ? undefined : String(value);
  }

  /** Reads a flag by its name on the command line, for example `data-dir`. */
  byFlag(flag: string): string | undefined {
    return this.text(flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()));
  }

  /** Reads a setting that must not be missing or empty. `what` is the remedy in the error. */
  required(name: string, flag: string, what: string): string {
    const value = this.text(name);
    if (!value) throw usageError(`${flag}: ${what}`);
    return value;
  }

  /** Cluster whose snapshots are read, with the etcd cluster id if given. An empty namespace: the cluster has none. */
  wanted(): WantedSnapshots {
    const named = this.cluster();
    const clusterId = this.clusterId();
    const namespace = this.text('namespace') === '' ? '' : named.namespace;
    return { ...named, ...(namespace !== undefined && { namespace }), clusterId };
  }

  /** Cluster id of an etcd, in the form of etcd's logs. */
  clusterId(): string | undefined {
    const clusterId = this.text('clusterId');
    return clusterId === undefined ? undefined : etcdClusterId('--cluster-id', clusterId);
  }

  /** Cluster ids of the etcds that this one was restored from, if the store has no note of it. */
  restoredFrom(): string[] {
    return this.list('restoredFrom').map((id) => etcdClusterId('--restored-from', id));
  }

  /** Cluster that the snapshots belong to. */
  cluster(): NamedCluster {
    return namedCluster(this.text('cluster'), this.text('namespace'));
  }

  flag(name: string): boolean {
    return this.#value(name) === true;
  }

  list(name: string): string[] {
    return [this.#value(name) ?? []]
      .flat()
      .flatMap((value) => String(value).split(','))
      .filter(Boolean);
  }

  oneOf<T extends string>(name: string, flag: string, choices: readonly T[]): T {
    const value = this.text(name);
    const found = choices.find((choice) => choice === value);
    if (!found) throw usageError(`${flag}: '${value}' is not one of ${choices.join(', ')}`);
    return found;
  }

  duration(name: string, flag = flagOf(name)): number | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : parseDuration(value, flag);
  }

  get scratch(): string {
    return this.text('scratch') ?? tmpdir();
  }

  /** Every store with its own retention, otherwise the common one. */
  stores(): StoreSpec[] {
    const { flags, defaulted } = this.#invocation;
    const given = defaulted.has('store') ? (this.#config.stores ?? []) : [flags.store].flat().map(String);
    const specs = given.map((spec) => (typeof spec === 'string' ? parseStore(spec) : spec));
    if (specs.length === 0)
      throw usageError('--store: name the store of the snapshots, for example s3://bucket/prefix or file:///dir');
    const common = this.#retention();
    return specs.map((spec) => ({ ...spec, retention: spec.retention ?? common }));
  }

  store(): StoreSpec {
    const specs = this.stores();
    if (specs.length > 1) {
      const urls = specs.map(storeUrl).join(', ');
      throw usageError(
        `--store: this command takes one store, but ${specs.length} are given (${urls}); run it for each of them, with one --store on the command line`,
      );
    }
    return specs[0]!;
  }

  /** Value of `--retention` if it has no effect, because the store has rules of its own. */
  get unusedRetention(): string | undefined {
    if (!this.#isGiven('retention')) return undefined;
    return isDeepStrictEqual(this.#retention(), this.store().retention) ? undefined : this.text('retention');
  }

  #retention(): RetentionSpec | undefined {
    const value = this.#value('retention');
    if (value === undefined) return undefined;
    const spec = typeof value === 'string' ? parseRules(value) : value;
    const parsed = retentionSpec.safeParse(spec);
    if (!parsed.success) throw usageError(`--retention: ${describeIssue(parsed.error)}`);
    return parsed.data;
  }

  /** The ids of the snapshots in `--keep-file`, each with why it is kept. Undefined if the record of the cluster, which a pod mounts, does not exist. */
  async keep(): Promise<Kept | undefined> {
    return readIds(this.text('keepFile'), this.#invocation.fromEnvironment.has('keepFile'));
  }

  /** age recipients of the snapshot. Empty: the snapshot is not encrypted. */
  async recipients(): Promise<string[]> {
    return readRecipients(this.list('ageRecipient'), this.list('ageRecipientsFile'));
  }

  /** age recipients of the extra files, if they differ from those of the snapshot. */
  async extraRecipients(): Promise<string[]> {
    return readRecipients(this.list('extraAgeRecipient'), [], 'extraAgeRecipient');
  }

  /** age identities: secret keys that decrypt snapshots. Empty without `--age-identity-file`. */
  async identities(): Promise<string[]> {
    const files = this.list('ageIdentityFile');
    if (files.length === 0) return [];
    const { readIdentities } = await import('../../backup/payload/age-keys.ts');
    return readIdentities(files);
  }

  /** Addresses and credentials of etcd. */
  async access(): Promise<EtcdAccess> {
    const tls = await loadTls({ cacert: this.text('cacert'), cert: this.text('cert'), key: this.text('key') });
    const user = this.text('user') ?? (await readSecret('--user-file', this.text('userFile')));
    const password = await readSecret('--password-file', this.text('passwordFile'));
    if (user && password === undefined)
      throw usageError('--password-file: is missing; --user needs a file with the password');
    if (!user && password !== undefined)
      throw usageError('--user: is missing; --password-file needs --user or --user-file');
    return {
      endpoints: this.text('survivor') ? [] : parseEndpoints(this.list('endpoints'), tls !== undefined),
      tls,
      user,
      password,
      dialTimeout: this.duration('dialTimeout', '--dial-timeout') ?? 5_000,
    };
  }
}

/** A file system may never answer. Nothing has to be cleaned up then. */
async function inTime<T>(what: string, limit: number, reading: Promise<T>): Promise<T> {
  const late = new AbortController();
  const end = () => {
    const message = `${what} was not read after ${limit / 1000}s (--timeout); check that it is a file, and that its file system answers`;
    late.abort(new AgentError(ExitCode.timedOut, message));
  };
  const timer = setTimeout(end, Math.min(limit, LONGEST));
  return unlessAborted(reading, late.signal).finally(() => clearTimeout(timer));
}

/** One id per line. */
async function readIds(file: string | undefined, isMounted: boolean): Promise<Kept | undefined> {
  if (!file) return new Map();
  const text = await readFile(file, 'utf8').catch((error) => {
    if (isMounted && error.code === 'ENOENT') return undefined;
    throw usageError(`--keep-file: cannot read ${file} ${readFault(error)}`);
  });
  if (text === undefined) return undefined;
  const lines = text.split('\n').map((line) => line.trim());
  const wrong = lines.findIndex((line) => line !== '' && !isId(line));
  if (wrong < 0) return new Map(lines.filter(Boolean).map((id) => [id, 'in the list of --keep-file']));
  throw usageError(
    `--keep-file: ${file}: line ${wrong + 1} is not the id of a snapshot; write one id per line, as \`list\` prints it`,
  );
}

function etcdClusterId(flag: string, given: string): string {
  const id = given.toLowerCase();
  if (isEtcdId(id)) return id;
  throw usageError(`${flag}: '${given}' is not an etcd cluster id; write it in hex, as shown by \`list\``);
}

async function readRecipients(given: readonly string[], files: readonly string[], at?: string): Promise<string[]> {
  if (given.length + files.length === 0) return [];
  const ageKeys = await import('../../backup/payload/age-keys.ts');
  return ageKeys.readRecipients(given, files, at);
}

async function readSecret(flag: string, file: string | undefined): Promise<string | undefined> {
  if (!file) return undefined;
  const content = await readFile(file, 'utf8').catch((error) => {
    throw usageError(`${flag}: cannot read ${file} ${readFault(error)}`);
  });
  const value = content.replace(/\r?\n$/, '');
  if (!value) throw usageError(`${flag}: ${file} is empty`);
  return value;
}

/** Parses `last=3,daily=7,within=30d` into the fields of a retention. */
function parseRules(rules: string): Record<string, unknown> {
  const parsed: Record<string, unknown> = {};
  for (const rule of rules.split(',')) {
    const [name, value, ...rest] = rule.split('=').map((part) => part.trim());
    if (!name || !value || rest.length > 0)
      throw usageError(`--retention: '${rule}' is not a rule; write last=3 or daily=7`);
    if (Object.hasOwn(parsed, name)) throw usageError(`--retention: '${name}' is given twice; remove one`);
    parsed[name] = /^-?[\d.]+$/.test(value) ? Number(value) : value;
  }
  return parsed;
}
