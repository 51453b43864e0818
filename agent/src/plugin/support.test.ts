import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ago, condition, type Ended, PluginTest, paths } from './plugin.fixture.ts';
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

  test('a user with a password says so, and certs does not list it', async () => {
    plugin.api.put(paths.of('etcdusers', 'dashboard'), {
      spec: { clusterName: 'orders', userName: 'dashboard', passwordSecret: 'orders-user-dashboard' },
      status: {
        conditions: [{ type: 'Ready', status: 'True', reason: 'R', message: 'fine' }],
        // Of the certificate that it had before.
        certificate: { notAfter: '2027-01-02T00:00:00Z' },
      },
    });
    expect((await plugin.run('users')).out).toMatch(/dashboard +dashboard +True +R +password\n/);
    expect(JSON.parse((await plugin.run('users --output=json')).out).users).toMatchObject([
      { name: 'dashboard', passwordSecret: 'orders-user-dashboard' },
    ]);
    expect((await plugin.run('certs')).out).not.toContain('dashboard');
  });

  test('certs: dates of the status, names of the spec; an expired one ends with 6', async () => {
    plugin.forbid('secrets');
    const ended = await plugin.run('certs');
    expect(ended.exit).toBe(0);
    expect(ended.out).toMatch(
      /orders-server-tls +\d{4}-\d\d-\d\d +90 days +\d{4}-\d\d-\d\d +\?\n(?:.*\n)*orders-client-tls +\? +\? +\? +\?\n/,
    );
    plugin.putCluster('orders', { certificates: [{ secret: 'orders-server-tls', notAfter: ago(90_000) }] });
    expect(await plugin.run('certs')).toMatchObject({ exit: 6, out: expect.stringMatching(/EXPIRED +never/) });
    plugin.putCluster('orders', { conditions: [condition('CertificatesReady', 'False', 'AuthorityLost', 'x')] });
    expect((await plugin.run('certs')).exit).toBe(6);
  });
});

describe('certs of a cluster whose certificates the reconciler issues', () => {
  const managed = { clientAuthority: 'orders-client-ca' };

  test('a Secret that is missing is called that, and a certificate of a lost authority has no renewal', async () => {
    const certificates = [{ secret: 'orders-client-ca', notAfter: '2036-01-02T00:00:00Z' }];
    plugin.putCluster('orders', { certificates }, { tls: { serverSecret: 'orders-server-tls', managed } });
    plugin.api.put(paths.of('etcdusers', 'api'), {
      spec: { clusterName: 'orders', userName: 'api', certificateSecret: 'orders-user-api' },
      status: { certificate: { notAfter: '2036-01-02T00:00:00Z', renewAt: '2035-12-02T00:00:00Z' } },
    });
    const { out } = await plugin.run('certs');
    expect(out).toMatch(
      /Missing: orders-client-ca,[^:]*\sorders-server-tls,[^:]*orders-user-api[^:]*:\s+apply\s+the\s+manifests/,
    );
    expect(out).not.toContain('cert-manager');
    const lost = [condition('CertificatesReady', 'False', 'AuthorityLost', 'x')];
    plugin.putCluster(
      'orders',
      { certificates, conditions: lost },
      { tls: { serverSecret: 'orders-server-tls', managed } },
    );
    const afterwards = (await plugin.run('certs')).out;
    expect(afterwards).toMatch(/Missing: [^:]*:\s+do\s+first\s+what\s+CertificatesReady\s+says/);
    expect(afterwards).not.toMatch(/apply\s+the\s+manifests/);
    expect(out).toMatch(/orders-user-api +2036-01-02 +\d+ days +never +NO/);
  });
});

test('certs of a cluster that leaves the names of its Secrets out lists them', async () => {
  plugin.putCluster('orders', {}, { tls: { managed: {} } });
  const { out } = await plugin.run('certs');
  for (const name of ['peer-ca', 'client-ca', 'peer-tls', 'server-tls', 'client-tls', 'root-tls', 'backup-tls'])
    expect(out).toMatch(new RegExp(`^orders-${name} `, 'm'));
});

describe('a status that is not current', () => {
  test('certs and users say so, and certs of a cluster with TLS does not deny it', async () => {
    plugin.putCluster('orders', { observedAt: ago(90_000) }, { tls: {} });
    for (const verb of ['certs', 'users']) expect((await plugin.run(verb)).out).toMatch(/1d .*OLD/);
    expect((await plugin.run('certs')).exit).toBe(6);
    plugin.api.put(paths.of('etcdclusters', 'orders'), { spec: { size: 3, tls: {} } });
    const { out } = await plugin.run('certs');
    expect(out).not.toContain('has no TLS');
    expect(out).toMatch(/^orders-server-cert +\?/m);
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

  const reported = async (): Promise<{ ended: Ended; all: string }> => {
    const file = join(directory, 'report.tar.gz');
    const ended = await plugin.run(`report --file ${file}`, { isTTY: true });
    execFileSync('tar', ['-xzf', file, '-C', directory]);
    const names = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).trimEnd().split('\n');
    const read = names.map(async (name) => `${name}\n${await readFile(join(directory, name), 'utf8')}`);
    return { ended, all: (await Promise.all(read)).join('\n') };
  };

  test('the value of every Secret that a pod refers to is found', async () => {
    const references = ['in-env', 'in-projection', 'in-env-from', 'in-pull'];
    for (const name of references)
      plugin.api.put(paths.of('secrets', name), { data: { key: base64(`value-of-${name}`), pin: base64('hunt2') } });
    plugin.api.put(paths.of('pods', 'orders-0'), {
      metadata: { labels },
      spec: {
        imagePullSecrets: [{ name: 'in-pull' }],
        volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 'in-projection' } }] } }],
        containers: [
          {
            name: 'etcd',
            env: [{ name: 'X', valueFrom: { secretKeyRef: { name: 'in-env', key: 'key' } } }],
            envFrom: [{ secretRef: { name: 'in-env-from' } }],
          },
        ],
      },
    });
    putLog('orders-0', ...references.map((name) => `2026-11-26T10:00:00Z got value-of-${name} (hunt2)`));
    const { all } = await reported();
    expect(all).toContain('got (left out)');
    expect(all).not.toMatch(/value-of-|hunt2/);
  });

  test('a backup that fails: its CronJob, its Job, and what its pod said', async () => {
    const backup = { 'app.kubernetes.io/name': 'etcd-backup', 'app.kubernetes.io/part-of': 'orders' };
    plugin.api.put(paths.of('cronjobs', 'orders-hourly'), { metadata: { labels: backup }, spec: {} });
    const { uid } = plugin.api.object(paths.of('cronjobs', 'orders-hourly'))!.metadata;
    plugin.api.put(paths.of('jobs', 'orders-hourly-1'), { metadata: { ownerReferences: [{ uid }] } });
    const job = plugin.api.object(paths.of('jobs', 'orders-hourly-1'))!.metadata;
    plugin.api.put(paths.of('pods', 'orders-hourly-1-x'), {
      metadata: { ownerReferences: [{ uid: job.uid }] },
      spec: { containers: [{ name: 'agent' }] },
    });
    putLog('orders-hourly-1-x', '2026-11-26T10:00:00Z the store refuses the credentials');
    const { all } = await reported();
    for (const each of ['resources/cronjobs.json', '"orders-hourly"', '"orders-hourly-1"', 'the store refuses'])
      expect(all).toContain(each);
  });

  test('what belongs to something else is not in it', async () => {
    putPod('orders-web-0', [{ name: 'web' }], {
      'app.kubernetes.io/name': 'web',
      'app.kubernetes.io/part-of': 'orders',
    });
    putPod('orders-eu-0', [{ name: 'etcd' }], { ...labels, 'app.kubernetes.io/instance': 'orders-eu' });
    putPod('orders-1', [{ name: 'etcd' }]);
    const { uid } = plugin.api.object(paths.of('pods', 'orders-1'))!.metadata;
    plugin.api.put(paths.of('jobs', 'owned'), { metadata: { ownerReferences: [{ uid }] } });
    const { all } = await reported();
    expect(all).not.toMatch(/orders-web|orders-eu/);
    expect(all).toContain('"name": "orders-1"');
    expect(all).toContain('"name": "owned"');
  });

  test('what fails or never ends is named, and the rest is there, without colors', async () => {
    putPod('orders-0', [{ name: 'etcd' }]);
    plugin.fail('events', 'secrets');
    plugin.silence('log');
    const { ended, all } = await reported();
    expect(ended.exit).toBe(0);
    expect(all).toContain('a first line');
    expect(all).toMatch(/cannot be read: .*nothing arrived for/);
    expect(all).toMatch(/not-shown\.txt\n(.*\n)*events \(the API server fails/);
    expect(all).not.toContain('\x1b');
    expect(all).toContain('resources/pods.json');
  }, 60_000);

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
