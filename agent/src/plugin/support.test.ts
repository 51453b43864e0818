import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ago, condition, PluginTest, paths } from './plugin.fixture.ts';
import { redactText } from './report/redact.ts';

let plugin: PluginTest;
beforeEach(async () => {
  plugin = await PluginTest.start();
  plugin.putCluster('orders', {}, { tls: { clientSecret: 'orders-client-tls' } });
});
afterEach(() => plugin[Symbol.asyncDispose]());

const labels = {
  'app.kubernetes.io/name': 'etcd',
  'app.kubernetes.io/instance': 'orders',
  'app.kubernetes.io/component': 'member',
};

function putPod(
  name: string,
  containers: readonly object[],
  more: Record<string, string> = labels,
  annotations = {},
): void {
  plugin.api.put(paths.of('pods', name), { metadata: { labels: more, annotations }, spec: { containers } });
}

const putLog = (pod: string, ...lines: string[]) =>
  plugin.texts.set(`${paths.of('pods', pod)}/log`, `${lines.join('\n')}\n`);

describe('users and certs', () => {
  test('a user that is not ready comes with its message', async () => {
    const put = (name: string, status: string, message: string) =>
      plugin.api.put(paths.of('etcdusers', name), {
        spec: { clusterName: 'orders', userName: name, certificateSecret: `orders-user-${name}` },
        status: {
          conditions: [{ type: 'Ready', status, reason: 'R', message }],
          certificate: { notAfter: '2027-01-02T00:00:00Z' },
        },
      });
    put('api', 'True', 'fine');
    put('web', 'False', 'its Secret is missing');
    const { out } = await plugin.run('users');
    expect(out).toMatch(/api +api +True +R +2027-01-02\nweb +web +False +R +2027-01-02\n {4}its Secret is missing\n/);
    expect(out).toContain('Authentication: its state is not known');
  });

  test('certs: dates of the status, names of the spec; an expired one ends with 6', async () => {
    plugin.forbid('secrets');
    const ended = await plugin.run('certs');
    expect(ended.exit).toBe(0);
    expect(ended.out).toMatch(
      /orders-server-tls +\d{4}-\d\d-\d\d +90 days +\d{4}-\d\d-\d\d +\?\norders-client-tls +\? +\? +\? +\?\n/,
    );
    plugin.putCluster('orders', { certificates: [{ secret: 'orders-server-tls', notAfter: ago(90_000) }] });
    expect(await plugin.run('certs')).toMatchObject({ exit: 6, out: expect.stringMatching(/EXPIRED +never/) });
    plugin.putCluster('orders', { conditions: [condition('CertificatesReady', 'False', 'AuthorityLost', 'x')] });
    expect((await plugin.run('certs')).exit).toBe(6);
  });
});

describe('logs', () => {
  beforeEach(() => {
    putPod('orders-0', [{ name: 'etcd' }]);
    putPod('etcd-reconciler-x', [{ name: 'reconciler' }], { 'app.kubernetes.io/name': 'etcd-reconciler' });
    putLog('orders-0', '2026-11-26T10:00:00.1Z first', '2026-11-26T10:00:02.123456789Z third');
    putLog('etcd-reconciler-x', '2026-11-26T10:00:01.5Z second');
  });

  test('of all containers, by time', async () => {
    const { out, exit } = await plugin.run('logs');
    expect(exit).toBe(0);
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => line.split(' ').at(-1)),
    ).toEqual(['first', 'second', 'third']);
    expect(out).toContain('2026-11-26T10:00:02.123Z orders-0 etcd: third\n');
    expect((await plugin.run('logs -c reconciler')).out).toMatch(/^\S+ etcd-reconciler-x reconciler: second\n$/);
  });

  test('one that cannot be read is named, and the others go on', async () => {
    plugin.texts.delete(`${paths.of('pods', 'orders-0')}/log`);
    const { out, err, exit } = await plugin.run('logs --since 1h');
    expect({ exit, lines: out.split('\n').length }).toEqual({ exit: 0, lines: 2 });
    expect(err).toMatch(/^orders-0 etcd: .* not found\n$/);
  });

  test.each(['--since soon', '--tail 0', '--member web-0'])('%s is refused', async (args) => {
    expect([2, 3]).toContain((await plugin.run(`logs ${args}`)).exit);
  });
});

describe('report', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'report-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const key = '-----BEGIN PRIVATE KEY-----\nhidden-key-line-1\nhidden-key-line-2\n-----END PRIVATE KEY-----\n';

  test('contains no secret, wherever there is one, and still says what helps', async () => {
    const secrets = Array.from({ length: 16 }, (_, index) => `hidden-${index}-value`);
    const [inEnv, inMap, inApplied, inSecret, inUrl, inLog, inToken, inEvent, inOther, inArgs, inAnnotation] =
      secrets as [string, ...string[]] & string[];
    plugin.putCluster(
      'orders',
      {},
      {
        tls: { clientSecret: 'orders-client-tls' },
        backup: {
          schedules: [
            {
              name: 'hourly',
              stores: [{ command: { env: { PASSWORD: inMap } } }, { s3: { credentials: { secretName: 's3' } } }],
            },
          ],
        },
      },
    );
    plugin.api.put(paths.of('secrets', 's3'), {
      metadata: {
        annotations: {
          'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ data: { a: base64(inApplied!) } }),
        },
      },
      type: 'Opaque',
      data: { AWS_SECRET_ACCESS_KEY: base64(`${inSecret}\n`), 'tls.key': base64(key) },
    });
    putPod(
      'orders-0',
      [
        {
          name: 'etcd',
          args: [
            `--store=sftp://user:${inUrl}@host/x`,
            `--password=${inArgs}`,
            '--cluster=orders',
            '--api-token',
            secrets[15],
          ],
          env: [
            { name: 'TOKEN', value: inEnv },
            { name: 'ETCD_VERSION', value: '3.6.16' },
          ],
        },
      ],
      labels,
      {
        'kubectl.kubernetes.io/last-applied-configuration': inApplied,
        'example.com/other': inAnnotation,
        'cdk8s-etcd.dev/epoch': '4',
      },
    );
    putLog(
      'orders-0',
      `2026-11-26T10:00:00Z Authorization: Bearer ${inLog}`,
      `2026-11-26T10:00:01Z the store said ${inSecret}, as base64 ${base64(`${inSecret}\n`)}`,
      `2026-11-26T10:00:02Z {"password":"${inOther}","msg":"a message that helps"}`,
      `2026-11-26T10:00:03Z hidden-key-line-1`,
    );
    plugin.api.put(paths.of('configmaps', 'orders-record'), {
      data: {
        'record.json': JSON.stringify({
          v: 1,
          token: inToken,
          op: { kind: 'Restore', step: 'drain', args: { sourceToken: inToken } },
        }),
      },
    });
    plugin.api.put(paths.of('events', 'orders.1'), {
      involvedObject: { kind: 'Pod', name: 'orders-0' },
      type: 'Warning',
      reason: 'Failed',
      message: `token=${inEvent} was refused`,
      lastTimestamp: ago(5),
    });
    const file = join(directory, 'report.tar.gz');
    const ended = await plugin.run(`report --file ${file}`);
    expect(ended).toMatchObject({ exit: 0, err: '' });

    execFileSync('tar', ['-xzf', file, '-C', directory]);
    const names = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).trimEnd().split('\n');
    const texts = await Promise.all(
      names.map(async (name) => `${name}\n${await readFile(join(directory, name), 'utf8')}`),
    );
    const all = texts.join('\n') + ended.out;
    const forms = secrets.flatMap((secret) => [secret, base64(secret), base64(`${secret}\n`)]);
    expect(forms.filter((form) => all.includes(form))).toEqual([]);
    expect(all).not.toMatch(/hidden-key|token-of-ann/);

    expect(names).toEqual(
      expect.arrayContaining(['status.txt', 'record.json', 'resources/pods.json', 'logs/orders-0-etcd.log']),
    );
    for (const helpful of [
      'a message that helps',
      '--cluster=orders',
      '"step": "drain"',
      '"AWS_SECRET_ACCESS_KEY"',
      '"3.6.16"',
      'orders in shop: Ready',
      '"cdk8s-etcd.dev/epoch": "4"',
      'was refused',
    ])
      expect(all).toContain(helpful);
  });

  test('what may not be read is named, and the rest is there', async () => {
    plugin.forbid('secrets', 'pods', 'events');
    const file = join(directory, 'report.tar.gz');
    const ended = await plugin.run(`report --file ${file}`);
    expect(ended).toMatchObject({
      exit: 0,
      err: expect.stringMatching(/^not in it, because you may not read it: .*pods.*secrets/),
    });
  });

  test.each([
    ['https://user:pass@host/x', 'https://(left out)@host/x'],
    ['access_key: AbCdEf, region: x', 'access_key: (left out), region: x'],
    ['secretName of the Secret s3', 'secretName of the Secret s3'],
    ['AGE-SECRET-KEY-1QQQQ', '(left out)'],
    ['X-Amz-Signature=0123abcd&x=1', 'X-Amz-Signature=(left out)&x=1'],
  ])('%s becomes %s', (text, expected) => {
    expect(redactText(text)).toBe(expected);
  });
});

describe('completion', () => {
  test.each(['bash', 'zsh', 'fish', 'kubectl'])('%s: every verb and its flags', async (shell) => {
    const { out, exit } = await plugin.runWords(['completion', shell]);
    expect(exit).toBe(0);
    for (const word of ['status', 'restore', 'watch', 'namespace', 'backup']) expect(out).toContain(word);
  });

  test.each([
    ['bash', 'bash'],
    ['kubectl', 'sh'],
  ])('the script for %s is a script', async (shell, program) => {
    const { out } = await plugin.runWords(['completion', shell]);
    execFileSync(program, ['-n'], { input: out });
    if (shell === 'kubectl')
      expect(execFileSync('sh', ['-s', 'status', '--'], { input: out, encoding: 'utf8' })).toMatch(
        /--watch\n(.*\n)*:4\n$/,
      );
  });

  test('another shell is a mistake', async () => {
    expect(await plugin.runWords(['completion', 'powershell'])).toMatchObject({ exit: 2 });
  });
});
