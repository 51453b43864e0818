import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  agentKeys,
  type ConfigKey,
  type ConfigSettings,
  configKeys,
  minors,
  problemsOfSettings,
  type SettingType,
  translate,
} from '../src/etcd/etcd-config-keys';

const { CDK8S_ETCD_CACHE, XDG_CACHE_HOME } = process.env;
const cache = resolve(CDK8S_ETCD_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'cdk8s-etcd'));
const programOf = (minor: string) => join(cache, 'etcd', minor, 'etcd');
const available = minors.filter((minor) => existsSync(programOf(minor)));

test('each minor that the constructs support is available', () => {
  expect(available).toEqual(expect.arrayContaining(['3.5', '3.6', '3.7']));
});

// etcd ignores an unknown key, whatever its value. For a known key, it refuses a value of another type.
const goTypes: Record<SettingType, RegExp> = {
  bool: /^bool$/,
  int: /^u?int(32|64)?$/,
  string: /^string$/,
  duration: /^time\.Duration$/,
  list: /^\[\]string$/,
  map: /^(embed\.securityConfig|transport\.SocketOpts)$/,
  gate: /^bool$/,
};
const wrongValue = ({ type }: ConfigKey) => (type === 'map' ? [] : {});

describe.each(available)('etcd %s', (minor) => {
  test('accepts every key that is written for it, with its type', async () => {
    const expected: Record<string, unknown> = {};
    const found: Record<string, unknown> = {};
    for (const [key, known] of Object.entries(configKeys)) {
      const spelling = known.spellings[minor];
      if (spelling === undefined) continue;
      expected[key] = expect.stringMatching(goTypes[known.type]);
      found[key] = await typeOf(minor, spelling, wrongValue(known));
    }
    expect(Object.keys(found).length).toBeGreaterThan(40);
    expect(found).toEqual(expected);
  });

  test('rejects the spelling of other minors', async () => {
    const known: string[] = [];
    for (const [key, { spellings }] of Object.entries(configKeys)) {
      for (const spelling of new Set(Object.values(spellings))) {
        if (spelling === spellings[minor] || understoodTwice(minor, spelling)) continue;
        if (await typeOf(minor, spelling, {})) known.push(`${key}: ${spelling}`);
      }
    }
    expect(known).toEqual([]);
  });

  test('starts with all settings, and applies them', async () => {
    const log = await start(minor, { ...translate(everything, minor), ...translate(place, minor) });
    expect(log).toMatchObject({
      'heartbeat-interval': '150ms',
      'election-timeout': '1.5s',
      'snapshot-count': 12345,
      'quota-backend-bytes': 123456789,
      'max-request-bytes': 2345678,
      'pre-vote': false,
      'corrupt-check-time-interval': '12h0m0s',

      'auto-compaction-mode': 'revision',
      'auto-compaction-retention': '1µs',
      'max-concurrent-streams': 4567,
      cors: ['https://a.example:443'],
      'host-whitelist': ['a.example'],
      ...(minor >= '3.5' && {
        'snapshot-catchup-entries': 4321,
        'compact-check-time-interval': '2m0s',
        'downgrade-check-interval': '7s',
      }),
      ...(minor === '3.5' && { 'compact-check-time-enabled': true }),
      // From 3.6 on it appears among the feature gates.
      ...(minor < '3.6' && { 'initial-corrupt-check': true }),
      ...(minor >= '3.6' && { 'feature-gates': translate(everything, minor)['feature-gates'] }),
    });
  });
});

/** 3.6 still accepts the spelling of 3.5. */
const understoodTwice = (minor: string, spelling: string) => minor === '3.6' && spelling.startsWith('experimental-');

/** Returns Go's type of a key, from etcd's error about a wrong value. Undefined if etcd does not know the key. */
async function typeOf(minor: string, key: string, value: unknown): Promise<string | undefined> {
  const output = await run(minor, { ...nowhere, [key]: value });
  const [, field, type] = /cannot unmarshal \w+ into Go struct field (\S+) of type ([\w.[\]]+)/.exec(output) ?? [];
  if (field === undefined) return undefined;
  return field.endsWith(`.${key}`) ? type?.replace(/\.$/, '') : `${field}?`;
}

// etcd ends at once.
const nowhere = { 'data-dir': '/dev/null/etcd' };

function run(minor: string, file: object, until?: RegExp): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'config-keys-'));
  const path = join(directory, 'etcd.yaml');
  writeFileSync(path, JSON.stringify(file).replaceAll('$DIRECTORY', directory));
  const etcd = spawn(programOf(minor), [`--config-file=${path}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 30_000,
    killSignal: 'SIGKILL',
  });
  let output = '';
  const read = (chunk: Buffer) => {
    output += chunk;
    if (until?.test(output)) etcd.kill('SIGKILL');
  };
  etcd.stdout.on('data', read);
  etcd.stderr.on('data', read);
  return new Promise((done, failed) => {
    etcd.on('error', failed);
    etcd.on('close', () => {
      rmSync(directory, { recursive: true });
      done(output);
    });
  });
}

const serving = /ready to serve client requests|serving client traffic/;

async function start(minor: string, file: object): Promise<object> {
  const output = await run(minor, file, serving);
  const line = output.split('\n').find((each) => each.includes('"starting an etcd server"'));
  if (!line || !serving.test(output)) throw new Error(`etcd ${minor} did not start: ${output.slice(-2000)}`);
  return JSON.parse(line);
}

const place = {
  name: 'a',
  'data-dir': '$DIRECTORY/data',
  'listen-peer-urls': 'http://127.0.0.1:0',
  'initial-advertise-peer-urls': 'http://127.0.0.1:2380',
  'listen-client-urls': 'http://127.0.0.1:0',
  'advertise-client-urls': 'http://127.0.0.1:2379',
  'initial-cluster': 'a=http://127.0.0.1:2380',
};

const everything: ConfigSettings = {
  'pre-vote': false,
  'enable-pprof': true,
  'enable-grpc-gateway': false,
  'heartbeat-interval': 150,
  'election-timeout': 1500,
  'snapshot-count': 12345,
  'snapshot-catchup-entries': 4321,
  'quota-backend-bytes': 123456789,
  'max-request-bytes': 2345678,
  'max-txn-ops': 256,
  'max-concurrent-streams': 4567,
  'auto-compaction-mode': 'revision',
  'auto-compaction-retention': '1000',
  'max-wals': 6,
  'max-snapshots': 7,
  'backend-batch-limit': 5000,
  'backend-batch-interval': '50ms',
  'backend-bbolt-freelist-type': 'map',
  'corrupt-check-time': '12h',
  'watch-progress-notify-interval': '5m',
  'warning-apply-duration': '150ms',
  'compact-hash-check-time': '2m',
  'compaction-sleep-interval': '20ms',
  'downgrade-check-time': '7s',
  'compaction-batch-limit': 500,
  'bootstrap-defrag-threshold-megabytes': 100,
  'distributed-tracing-sampling-rate': 10,
  'memory-mlock': false,
  'enable-distributed-tracing': false,
  'distributed-tracing-address': '127.0.0.1:4317',
  'distributed-tracing-service-name': 'etcd',
  'distributed-tracing-instance-id': 'a',
  'warning-unary-request-duration': '400ms',
  'log-format': 'json',
  'grpc-keepalive-min-time': '4s',
  'grpc-keepalive-interval': '1h30m',
  'grpc-keepalive-timeout': '21s',
  logger: 'zap',
  'log-level': 'info',
  metrics: 'extensive',
  'log-outputs': ['stderr'],
  'cipher-suites': ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'],
  'enable-log-rotation': false,
  'log-rotation-config-json': '{"maxsize": 50}',
  'socket-options': { 'reuse-address': true, 'reuse-port': false },
  'tls-min-version': 'TLS1.2',
  'tls-max-version': 'TLS1.3',
  'auth-token': 'simple',
  cors: 'https://a.example:443',
  'host-whitelist': 'a.example',
  'bcrypt-cost': 9,
  'auth-token-ttl': 299,
  InitialCorruptCheck: true,
  CompactHashCheck: true,
  LeaseCheckpoint: true,
  LeaseCheckpointPersist: true,
  StopGRPCServiceOnDefrag: true,
  TxnModeWriteWithSharedBuffer: false,
  SetMemberLocalAddr: false,
  FastLeaseKeepAlive: false,
  PriorityRequest: true,
};

test('etcd is started with every setting', () => {
  expect(Object.keys(everything).sort()).toEqual(
    Object.keys(configKeys)
      .filter((key) => !agentKeys.includes(key))
      .sort(),
  );
  expect(
    minors.flatMap((minor) => problemsOfSettings(everything, minor)).filter((text) => !text.includes('not in')),
  ).toEqual([]);
});
