// The keys of etcd's configuration file, minor by minor. etcd drops a key that it does not know without a word, so one is
// written only for a minor that has it. No imports: the constructs use this at synth, the agent when it writes the file.

export type SettingType = 'bool' | 'int' | 'string' | 'duration' | 'list' | 'map' | 'gate';

/** Settings by canonical key, 3.7's spelling; a feature gate by its name, a duration as `90m` or `12h`. */
export type Settings = { readonly [key: string]: unknown };

export interface ConfigKey {
  readonly type: SettingType;
  /** By minor; absent for a minor that lacks it. A gate has none where it is part of `feature-gates`. */
  readonly spellings: { readonly [minor: string]: string };
  /** The minors that know it at all. */
  readonly minors: readonly string[];
  /** Of a string: all that etcd takes. */
  readonly values?: readonly string[];
  /** Of an int or a duration, 0 unless said. */
  readonly minimum?: number;
  /** Of a map. */
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

/** `experimental-` before 3.6. */
const experimental = (first: string, type: SettingType, ...keys: string[]) =>
  keysOf(type, keys, (key, minor) => (minor < '3.6' ? `experimental-${key}` : key), first);

const detailed = (keys: Keys, details: Details): Keys =>
  Object.fromEntries(Object.entries(keys).map(([key, value]) => [key, { ...value, ...details }]));

/** A feature gate since 3.6, a key of its own before if it was there at all. */
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

/** Every key that is ever written. */
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

/** A key by its canonical name; undefined when there is none. */
export function configKey(key: string): ConfigKey | undefined {
  return Object.hasOwn(configKeys, key) ? configKeys[key] : undefined;
}

/** What the agent alone decides, as it differs from member to member or the protocol rests on it. */
export const agentKeys: readonly string[] = [
  ...['name', 'data-dir', 'wal-dir', 'listen-peer-urls', 'listen-client-urls', 'listen-metrics-urls'],
  ...['listen-client-http-urls', 'advertise-client-urls', 'initial-advertise-peer-urls', 'initial-cluster'],
  ...['initial-cluster-state', 'initial-cluster-token', 'initial-election-tick-advance', 'strict-reconfig-check'],
  ...['max-learners', 'client-transport-security', 'peer-transport-security', 'self-signed-cert-validity'],
];

/** What is never written, and why. */
export function neverWritten(key: string): string | undefined {
  if (key === 'force-new-cluster') return 'it throws every other member out of the cluster';
  if (key === 'unsafe-no-fsync') return 'it loses acknowledged writes';
  if (/^discovery(-|$)/.test(key)) return 'the agent tells each member whom to join';
  if (/^(enable-v2|experimental-enable-v2v3|v2-deprecation|proxy(-.*)?)$/.test(key)) return 'the v2 API is gone';
  return undefined;
}

/** The keys and values of a configuration file of that minor. What the minor does not have is left out. */
export function translate(settings: Settings, minor: string): Record<string, unknown> {
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
  return Object.fromEntries(Object.entries(value as Settings).filter(([field]) => hasField(fields, field, minor)));
}

function hasField(fields: NonNullable<ConfigKey['fields']>, field: string, minor: string): boolean {
  return Object.hasOwn(fields, field) && fields[field]!.since <= minor;
}

/** What is wrong with canonical settings for that minor: one line each, beginning with the key. */
export function problemsOfSettings(settings: Settings, minor: string): string[] {
  return Object.entries(settings).flatMap(([key, value]) => settingProblem(key, value, minor) ?? []);
}

function settingProblem(key: string, value: unknown, minor: string): string | undefined {
  const known = configKey(key);
  const never = neverWritten(key);
  if (never) return `'${key}' is never set, as ${never}; remove it`;
  if (agentKeys.includes(key)) return `'${key}' is set by the agent; remove it`;
  if (!known) return `'${key}' is no setting of etcd; look for a typing error`;
  if (!known.minors.includes(minor)) return `'${key}' is not in etcd ${minor}; remove it`;
  return valueProblem(`'${key}'`, known, value);
}

/** What is wrong with a value, in canonical form; undefined when nothing is. */
export function valueProblem(what: string, key: ConfigKey, value: unknown): string | undefined {
  const wanted = wantedValue(key, value);
  return wanted && `${what} is ${JSON.stringify(value)}; write ${wanted}`;
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

/** A duration as Go writes it; undefined when it is none, or more than a number holds (100 days). */
export function nanoseconds(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g);
  const total = Math.round(
    [...parts].reduce((sum, [, amount, unit]) => sum + Number(amount) * units[unit as keyof typeof units], 0),
  );
  return Number.isSafeInteger(total) ? total : undefined;
}
