import { redact, redactText } from './redact.ts';

const secret = 'hunter2-value';

describe('a text', () => {
  test.each([
    `sh -c "tool --password ${secret}"`,
    `tool --token ${secret} --verbose`,
    `tool --pass=${secret}`,
    `tool --pass ${secret}`,
    `etcdctl --user root:${secret} get x`,
    `curl -u ann:${secret} https://host`,
    `curl -u${'ann'}:${secret} https://host`,
    `password: correct ${secret} staple`,
    `password ${secret}`,
    `{"password":"with \\"${secret}\\" in it"}`,
    `postgres://u:p@${secret}@host/x`,
    `postgres://u:p/${secret}@host/x`,
    `https://host/x?sv=1&sig=${secret}`,
    `api_key=${secret}`,
    `apikey=${secret}`,
    `X-Api-Key: ${secret}`,
    `pwd=${secret}`,
    `Authorization: Digest ${secret}`,
    `a ghp_${secret.replaceAll(/\W/g, '')}${'a'.repeat(24)} b`,
    `a glpat-${secret}-aaaaaaaaaa b`,
    `password: |\n  ${secret}\n  more ${secret}`,
    `passphrase "two ${secret}"`,
    `password=ab,${secret}`,
    `password=ab&${secret}`,
    `password: it's ${secret}`,
    `password: a"${secret}`,
    `AWS_SECRET_ACCESS_KEY=abc;${secret}`,
    `PASSWORD='ab ${secret}' x`,
    `{"password":"ab\\"${secret}"}`,
    `root:${secret}@tcp(db:3306)/x`,
    `dsn=root:a/${secret}@db`,
    `Cookie: session=${secret}; b=${secret}`,
    `"set-cookie":"sid=${secret}; Path=/"`,
    `sshpass -p ${secret} sftp x`,
    `mc alias set x https://h ID ${secret}`,
    `s3 AKIAXXXXXXXXXXXXXXXX/${secret}`,
    `accountkey=${secret}`,
    `storageAccountKey: ${secret}`,
    `DefaultEndpointsProtocol=https;AccountKey=${secret}==`,
    `{"auths":{"r.io":{"auth":"${secret}"}}}`,
    `//registry/:_auth=${secret}`,
    `a hvs.CAESI${secret}aaaaaaaa b`,
  ])('%s', (text) => {
    const redacted = redactText(text);
    expect(redacted).toContain('(left out)');
    expect(redacted).not.toMatch(/hunter2/);
  });

  test('of JSON, only the value is left out', () => {
    const line = { level: 'info', msg: `token: ${secret}`, Cookie: secret, password: secret, next: 'stays' };
    expect(JSON.parse(redactText(JSON.stringify(line)))).toEqual({
      ...{ level: 'info', msg: 'token: (left out)', next: 'stays' },
      ...{ Cookie: '(left out)', password: '(left out)' },
    });
  });

  test.each(['eyJ-', 'password ', 'token=', 'a:b@', 'cookie: ', '"auth":', 'x-'])(
    'a long line of %s takes no time',
    (part) => {
      const begun = performance.now();
      redactText(part.repeat(60_000 / part.length));
      expect(performance.now() - begun).toBeLessThan(3_000);
    },
  );

  test.each(['npm_', 'AIza', 'LTAI'])('the id of an account, %s…', (prefix) => {
    expect(redactText(`id ${prefix}${'a1'.repeat(18)} x`)).toBe('id (left out) x');
  });

  test.each([
    'secretName of the Secret s3',
    '--cluster=orders --data-dir /data',
    'https://host:2379/health',
    'compassion=1, bypass: yes',
    '"auth": true, author: somebody',
    'registry.example:5000/etcd:v3@sha256:0123456789abcdef, mail:ann',
    'orders-0 etcd: a message that helps',
  ])('%s stays', (text) => {
    expect(redactText(text)).toBe(text);
  });
});

describe('an object', () => {
  const pod = (container: object) => ({ spec: { containers: [container] } });

  test('of a container that is not ours, no argument and no variable stays', () => {
    const container = {
      name: 'sidecar',
      args: ['-x', 'plain'],
      command: ['plain'],
      env: [{ name: 'ETCD_VERSION', value: 'plain' }],
      livenessProbe: { exec: { command: ['plain'] } },
    };
    expect(JSON.stringify(redact(pod(container)))).not.toContain('plain');
    expect(JSON.stringify(redact(pod({ ...container, name: 'etcd' })))).toContain('plain');
  });

  test('the headers of a probe are left out', () => {
    const probe = { httpGet: { path: '/health', httpHeaders: [{ name: 'X-Custom', value: secret }] } };
    const redacted = JSON.stringify(redact(pod({ name: 'etcd', readinessProbe: probe })));
    expect(redacted).not.toContain(secret);
    expect(redacted).toContain('/health');
  });

  test('a field with the credentials of a registry, or a cookie, is left out', () => {
    expect(redact({ auth: secret, cookie: secret, authority: 'x' })).toEqual({
      ...{ auth: '(left out)', cookie: '(left out)', authority: 'x' },
    });
  });

  test('the name of a Secret with a password stays', () => {
    const spec = { passwordSecret: 'orders-user-api' };
    expect(redact({ ...spec, password: secret })).toEqual({ ...spec, password: '(left out)' });
  });

  test('the argument after a flag of a secret is left out', () => {
    for (const flag of ['--pass', '--signing-key', '-u', '--user', '--api-key', '--pwd', '--credentials'])
      expect(redact([flag, secret, 'x'])).toEqual([flag, '(left out)', 'x']);
  });
});
