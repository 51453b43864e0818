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
    `<Password>${secret}</Password>`,
    `<ns:SecretAccessKey type="x">${secret}</ns:SecretAccessKey>`,
    `&lt;Password&gt;${secret}&lt;/Password&gt;`,
    `AccountName%3Da%3BAccountKey%3D${secret}`,
    `x?AccountKey%253D${secret}`,
    `password\\u003d${secret}`,
    `"password\\u003d${secret}"`,
    `%22password%22%3A%22${secret}%22`,
    `tool --token%3D${secret}`,
    `https%3A%2F%2Fu%3A${secret}%40host`,
    `secret ${secret}`,
    `the client secret ${secret} was refused`,
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
    'secret "orders-1-peer-tls" not found',
    'the Secret orders-1-peer-tls does not exist, and the secret store is full',
    '50%25 of x%3Dy \\u0026 <Message>a &amp; b</Message>',
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

  test.each([
    { password: { value: secret } },
    { tokens: [secret, { a: { b: secret } }] },
    { password: 12_345_678 },
    { clientSecret: secret },
    { secret },
    { client_secret: secret },
    { secrets: [secret] },
    { spec: { oauth: { clientSecret: secret } } },
  ])('%j: nothing below a field with the name of a secret stays', (value) => {
    const redacted = JSON.stringify(redact(value));
    expect(redacted).toContain('(left out)');
    expect(redacted).not.toMatch(/hunter2|12345678/);
  });

  test('the names of Secrets and what refers to one stay', () => {
    const spec = {
      tls: { clientSecret: 'orders-client-tls', managed: { peerAuthority: 'orders-peer-ca' } },
      certificates: [{ secret: 'orders-server-tls', notAfter: 'x' }],
      certificateSecret: 'orders-user-api',
      identitySecret: 'orders-age',
      store: { s3: { credentials: { secretName: 's3' } } },
      imagePullSecrets: [{ name: 'pull' }],
      volumes: [{ secret: { secretName: 's3', items: [{ key: 'a', path: 'b' }] } }],
      ref: { valueFrom: { secretKeyRef: { name: 's3', key: 'password' } } },
      automountServiceAccountToken: false,
    };
    expect(redact(spec)).toEqual(spec);
  });

  test('the argument after a flag of a secret is left out', () => {
    for (const flag of ['--pass', '--signing-key', '-u', '--user', '--api-key', '--pwd', '--credentials'])
      expect(redact([flag, secret, 'x'])).toEqual([flag, '(left out)', 'x']);
  });
});
