// The keys of etcd's configuration file in each minor version. etcd silently ignores an unknown key, so a key is
// written only for minor versions that have it. This file has no imports: the constructs use it at synthesis, and the
// agent uses it when it writes the file.

export type SettingType = 'bool' | 'int' | 'string' | 'duration' | 'list' | 'map' | 'gate';

/**
 * Settings by canonical key. The canonical key is the spelling of 3.7, or the name of a feature gate. Durations are
 * strings such as `90m` or `12h`.
 */
export type ConfigSettings = { readonly [key: string]: unknown };

export interface ConfigKey {
  readonly type: SettingType;
  /** Spelling by minor version; absent if the version lacks the key, or if a gate is set through `feature-gates`. */
  readonly spellings: { readonly [minor: string]: string };
  /** Minor versions that support the key. */
  readonly minors: readonly string[];
  /** For a string: all values that etcd accepts. */
  readonly values?: readonly string[];
  /** For an int or a duration: the smallest value. Default: 0. */
  readonly minimum?: number;
  /** For a map: its fields. */
  readonly fields?: { readonly [field: string]: MapField };
}

interface MapField {
  readonly type: SettingType;
  readonly since: string;
}

type Keys = { readonly [key: string]: ConfigKey };
type Details = Pick<ConfigKey, 'values' | 'minimum' | 'fields'>;

export const minors: readonly string[] = ['3.4', '3.5', '3.6', '3.7'];

const from = (first: string) => minors.slice(minors.indexOf(first));

function keysOf(
  type: SettingType,
  keys: string[],
  spelling: (key: string, minor: string) => string,
  first: string,
): Keys {
  const spellings = (key: string) => Object.fromEntries(from(first).map((minor) => [minor, spelling(key, minor)]));
  return Object.fromEntries(keys.map((key) => [key, { type, spellings: spellings(key), minors: from(first) }]));
}

const since = (first: string, type: SettingType, ...keys: string[]) => keysOf(type, keys, (key) => key, first);

const always = (type: SettingType, ...keys: string[]) => since('3.4', type, ...keys);

/** Keys that have the prefix `experimental-` before 3.6. */
const experimental = (first: string, type: SettingType, ...keys: string[]) =>
  keysOf(type, keys, (key, minor) => (minor < '3.6' ? `experimental-${key}` : key), first);

const detailed = (keys: Keys, details: Details): Keys =>
  Object.fromEntries(Object.entries(keys).map(([key, value]) => [key, { ...value, ...details }]));

/** A feature gate since 3.6. Before, it is a key of its own if the version supports it. */
function gate(name: string, first: string, key?: string): Keys {
  const spelled = key === undefined ? [] : from(first).filter((minor) => minor < '3.6');
  return {
    [name]: { type: 'gate', minors: from(first), spellings: Object.fromEntries(spelled.map((minor) => [minor, key!])) },
  };
}

const securityFields: { readonly [field: string]: MapField } = {
  'cert-file': { type: 'string', since: '3.4' },
  'key-file': { type: 'string', since: '3.4' },
  'client-cert-file': { type: 'string', since: '3.5' },
  'client-key-file': { type: 'string', since: '3.5' },
  'client-cert-auth': { type: 'bool', since: '3.4' },
  'trusted-ca-file': { type: 'string', since: '3.4' },
};

/** Every key that the agent ever writes. */
export const configKeys: Keys = {
  ...always('string', 'name', 'data-dir', 'wal-dir', 'listen-peer-urls', 'listen-client-urls', 'listen-metrics-urls'),
  ...always('string', 'advertise-client-urls', 'initial-advertise-peer-urls'),
  ...always('string', 'initial-cluster', 'initial-cluster-state', 'initial-cluster-token'),
  ...since('3.5', 'string', 'listen-client-http-urls'),
  ...always('bool', 'strict-reconfig-check', 'pre-vote', 'enable-pprof', 'enable-grpc-gateway'),
  ...detailed(always('int', 'heartbeat-interval', 'election-timeout', 'snapshot-count'), { minimum: 1 }),
  'snapshot-catchup-entries': {
    type: 'int',
    minors: from('3.5'),
    spellings: {
      '3.5': 'experimental-snapshot-catch-up-entries',
      '3.6': 'snapshot-catchup-entries',
      '3.7': 'snapshot-catchup-entries',
    },
  },
  ...detailed(always('int', 'quota-backend-bytes', 'max-request-bytes', 'max-txn-ops', 'max-concurrent-streams'), {
    minimum: 1,
  }),
  ...detailed(always('string', 'auto-compaction-mode'), { values: ['periodic', 'revision'] }),
  ...always('string', 'auto-compaction-retention'),
  ...always('int', 'max-wals', 'max-snapshots', 'backend-batch-limit'),
  ...always('duration', 'backend-batch-interval'),
  'backend-bbolt-freelist-type': {
    type: 'string',
    minors,
    values: ['array', 'map'],
    spellings: {
      '3.4': 'experimental-backend-bbolt-freelist-type',
      '3.5': 'backend-bbolt-freelist-type',
      '3.6': 'backend-bbolt-freelist-type',
      '3.7': 'backend-bbolt-freelist-type',
    },
  },
  ...experimental('3.4', 'duration', 'corrupt-check-time', 'watch-progress-notify-interval', 'warning-apply-duration'),
  ...detailed(experimental('3.5', 'duration', 'compact-hash-check-time'), { minimum: 1 }),
  ...experimental('3.5', 'duration', 'compaction-sleep-interval', 'downgrade-check-time'),
  ...experimental('3.4', 'int', 'compaction-batch-limit'),
  ...experimental('3.5', 'int', 'bootstrap-defrag-threshold-megabytes', 'distributed-tracing-sampling-rate'),
  ...experimental('3.5', 'bool', 'memory-mlock', 'enable-distributed-tracing'),
  ...experimental('3.5', 'string', 'distributed-tracing-address', 'distributed-tracing-service-name'),
  ...experimental('3.5', 'string', 'distributed-tracing-instance-id'),
  ...since('3.6', 'duration', 'warning-unary-request-duration'),
  ...detailed(since('3.6', 'int', 'max-learners'), { minimum: 1 }),
  ...detailed(since('3.6', 'string', 'log-format'), { values: ['json', 'console'] }),
  ...always('duration', 'grpc-keepalive-min-time', 'grpc-keepalive-interval', 'grpc-keepalive-timeout'),
  ...detailed(always('string', 'logger'), { values: ['zap'] }),
  ...detailed(always('string', 'log-level'), { values: ['debug', 'info', 'warn', 'error', 'panic', 'fatal'] }),
  ...detailed(always('string', 'metrics'), { values: ['basic', 'extensive'] }),
  ...always('list', 'log-outputs', 'cipher-suites'),
  ...since('3.5', 'bool', 'enable-log-rotation'),
  ...since('3.5', 'string', 'log-rotation-config-json'),
  ...since('3.5', 'int', 'self-signed-cert-validity'),
  ...detailed(since('3.5', 'map', 'socket-options'), {
    fields: { 'reuse-port': { type: 'bool', since: '3.5' }, 'reuse-address': { type: 'bool', since: '3.5' } },
  }),
  ...detailed(since('3.5', 'string', 'tls-min-version', 'tls-max-version'), { values: ['TLS1.2', 'TLS1.3'] }),
  ...detailed(always('map', 'client-transport-security'), { fields: securityFields }),
  ...detailed(always('map', 'peer-transport-security'), {
    fields: { ...securityFields, 'skip-client-san-verification': { type: 'bool', since: '3.6' } },
  }),
  ...always('string', 'auth-token', 'cors', 'host-whitelist'),
  ...detailed(always('int', 'bcrypt-cost'), { minimum: 4 }),
  ...detailed(always('int', 'auth-token-ttl'), { minimum: 1 }),
  ...gate('InitialCorruptCheck', '3.4', 'experimental-initial-corrupt-check'),
  ...gate('CompactHashCheck', '3.5', 'experimental-compact-hash-check-enabled'),
  ...gate('LeaseCheckpoint', '3.4', 'experimental-enable-lease-checkpoint'),
  ...gate('LeaseCheckpointPersist', '3.4', 'experimental-enable-lease-checkpoint-persist'),
  ...gate('StopGRPCServiceOnDefrag', '3.5', 'experimental-stop-grpc-service-on-defrag'),
  ...gate('TxnModeWriteWithSharedBuffer', '3.5', 'experimental-txn-mode-write-with-shared-buffer'),
  ...gate('SetMemberLocalAddr', '3.6'),
  ...gate('FastLeaseKeepAlive', '3.7'),
  ...gate('PriorityRequest', '3.7'),
};

/** Returns the key with this canonical name, or undefined. */
export function configKey(key: string): ConfigKey | undefined {
  return Object.hasOwn(configKeys, key) ? configKeys[key] : undefined;
}

/** Keys that only the agent sets, because they differ between members or the membership protocol depends on them. */
export const agentKeys: readonly string[] = [
  ...['name', 'data-dir', 'wal-dir', 'listen-peer-urls', 'listen-client-urls', 'listen-metrics-urls'],
  ...['listen-client-http-urls', 'advertise-client-urls', 'initial-advertise-peer-urls', 'initial-cluster'],
  ...['initial-cluster-state', 'initial-cluster-token', 'initial-election-tick-advance', 'strict-reconfig-check'],
  ...['max-learners', 'client-transport-security', 'peer-transport-security', 'self-signed-cert-validity'],
];

/** Returns the reason why a key is never written, or undefined. */
export function neverWritten(key: string): string | undefined {
  if (key === 'force-new-cluster') return 'it removes every other member from the cluster';
  if (key === 'unsafe-no-fsync') return 'it loses acknowledged writes';
  if (/^discovery(-|$)/.test(key)) return 'the agent configures which cluster each member joins';
  if (/^(enable-v2|experimental-enable-v2v3|v2-deprecation|proxy(-.*)?)$/.test(key))
    return 'the v2 API no longer exists';
  return undefined;
}

/** Returns the configuration file of a minor version. Keys that this version lacks are left out. */
export function translate(settings: ConfigSettings, minor: string): Record<string, unknown> {
  const file: Record<string, unknown> = {};
  const gates: string[] = [];
  for (const [key, value] of Object.entries(settings)) {
    const known = configKey(key);
    if (!known?.minors.includes(minor)) continue;
    const spelling = known.spellings[minor];
    if (spelling === undefined) gates.push(`${key}=${value}`);
    else file[spelling] = fileValue(known, value, minor);
  }
  if (gates.length > 0) file['feature-gates'] = gates.sort().join(',');
  return file;
}

function fileValue({ type, fields }: ConfigKey, value: unknown, minor: string): unknown {
  if (type === 'duration') return nanoseconds(String(value));
  if (!fields) return value;
  return Object.fromEntries(
    Object.entries(value as ConfigSettings).filter(([field]) => hasField(fields, field, minor)),
  );
}

function hasField(fields: NonNullable<ConfigKey['fields']>, field: string, minor: string): boolean {
  return Object.hasOwn(fields, field) && fields[field]!.since <= minor;
}

/** Problems with canonical settings in a minor version: one line each, beginning with the key. */
export function problemsOfSettings(settings: ConfigSettings, minor: string): string[] {
  return Object.entries(settings).flatMap(([key, value]) => settingProblem(key, value, minor) ?? []);
}

function settingProblem(key: string, value: unknown, minor: string): string | undefined {
  const known = configKey(key);
  const never = neverWritten(key);
  if (never) return `'${key}' cannot be set, because ${never}; remove it`;
  if (agentKeys.includes(key)) return `'${key}' is set by the agent; remove it`;
  if (!known) return `'${key}' is not a setting of etcd; check it for typing errors`;
  if (!known.minors.includes(minor)) return `'${key}' is not in etcd ${minor}; remove it`;
  return valueProblem(`'${key}'`, known, value);
}

/** Problem with a value in canonical form, or undefined. */
export function valueProblem(what: string, key: ConfigKey, value: unknown): string | undefined {
  const wanted = wantedValue(key, value);
  return wanted && `${what} is ${shown(value)}; write ${wanted}`;
}

/** JSON.stringify fails for lists that are nested thousands of times. */
function shown(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return 'a value that is nested too deep';
  }
}

function wantedValue({ type, values, minimum = 0, fields }: ConfigKey, value: unknown): string | undefined {
  switch (type) {
    case 'bool':
    case 'gate':
      return typeof value === 'boolean' ? undefined : 'true or false';
    case 'int':
      return Number.isSafeInteger(value) && (value as number) >= minimum
        ? undefined
        : `a whole number of at least ${minimum}`;
    case 'duration':
      return typeof value === 'string' && (nanoseconds(value) ?? -1) >= minimum
        ? undefined
        : `a duration${minimum > 0 ? ' above zero' : ''} such as '10s', '90m' or '12h'`;
    case 'string':
      if (typeof value === 'string' && (values ?? [value]).includes(value)) return undefined;
      return values ? values.map((one) => `'${one}'`).join(' or ') : 'text in quotes';
    case 'list':
      return isList(value) ? undefined : "a list such as ['stderr']";
    case 'map':
      return isMap(value, fields ?? {}) ? undefined : `a map of ${Object.keys(fields ?? {}).join(', ')}`;
  }
}

const isList = (value: unknown) =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string');

function isMap(value: unknown, fields: NonNullable<ConfigKey['fields']>): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([field, item]) => Object.hasOwn(fields, field) && typeof item === typeOf(fields[field]!.type),
  );
}

const typeOf = (type: SettingType) => (type === 'bool' ? 'boolean' : 'string');

const units = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };

/**
 * Parses a duration in Go's format. Returns nanoseconds, or undefined if the text is not a duration or is longer than a
 * number can hold exactly (about 100 days).
 */
export function nanoseconds(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g);
  const total = Math.round(
    [...parts].reduce((sum, [, amount, unit]) => sum + Number(amount) * units[unit as keyof typeof units], 0),
  );
  return Number.isSafeInteger(total) ? total : undefined;
}
