import { redact, redactText } from './redact.ts';
import { valuesOf } from './secret-values.ts';

const secret = (data: Readonly<Record<string, string>>) => ({
  metadata: { name: 's3', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-11-23T12:00:00Z' },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
});
const masked = (data: Readonly<Record<string, string>>, text: string): string =>
  redactText(text, valuesOf([secret(data)], ['orders', 'shop']));

describe('a short value', () => {
  test.each([
    ['hunt2', 'refused hunt2.', 'refused (left out).'],
    ['hunt2', 'x=hunt2&y=1, "hunt2"', 'x=(left out)&y=1, "(left out)"'],
    ['hunt2\n', 'a-hunt2_b', 'a-(left out)_b'],
    ['hunt2', 'hunt23 0hunt2', 'hunt23 0hunt2'],
    ['a.b*', 'a.b* acb* xa.b*', '(left out) acb* xa.b*'],
    ['$x|y', '1$x|y $x|', '1(left out) $x|'],
    ['[x]-', 'a[x]-b', 'a(left out)b'],
    ['hunt2', 'in base64 aHVudDI=x', 'in base64 (left out)x'],
  ])('%j: %j becomes %j', (value, text, expected) => {
    expect(masked({ key: value }, text)).toBe(expected);
  });

  test('is masked in fields of objects', () => {
    const known = valuesOf([secret({ key: 'hunt2' })], []);
    expect(redact({ message: 'hunt2', list: ['hunt2', 'hunt23'] }, known)).toEqual({
      message: '(left out)',
      list: ['(left out)', 'hunt23'],
    });
  });

  test.each([
    [{ key: 'shop', other: 'orders' }, 'orders in shop'],
    [{ key: 'etcd', other: 'true' }, 'orders-0 etcd: true'],
    [{ username: 'root', AWS_REGION: 'eu-1' }, 'root in eu-1'],
    [{ key: 'abc', other: '1', empty: '' }, 'abc 1'],
    [{ 'ca.crt': 'a\nlines\nb' }, 'two lines'],
  ])('of %j stays what says nothing secret: %j', (data, text) => {
    expect(masked(data, text)).toBe(text);
  });
});

test('a long value is masked within words too, and line by line', () => {
  expect(masked({ key: 'hunter2-value\nsecond-line' }, '1hunter2-value1 second-line')).toBe('1(left out)1 (left out)');
});

describe('a value is masked as each program writes it', () => {
  const percent = (value: string, letters: 'toUpperCase' | 'toLowerCase') =>
    value.replaceAll(/[^\w-]/gu, (each) => encodeURIComponent(each).replaceAll(/%../g, (code) => code[letters]()));
  const ascii = (value: string) =>
    JSON.stringify(value).replaceAll(/[^\x20-\x7e]|[&<>]/g, (each) => {
      const code = each.charCodeAt(0).toString(16).padStart(4, '0');
      return `\\u${code}`;
    });
  const xml = (value: string) =>
    value.replaceAll(
      /[&<>"']/g,
      (each) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[each] ?? '&#39;',
    );

  const json = (value: string) => JSON.stringify(`"(${value})`);
  const forms: Readonly<Record<string, (value: string) => string>> = {
    JSON: json,
    'JSON in JSON': (value) => JSON.stringify({ log: json(value) }),
    'JSON in JSON in JSON': (value) => JSON.stringify({ a: JSON.stringify({ log: json(value) }) }),
    'JSON of Go': ascii,
    'JSON of Go in JSON': (value) => JSON.stringify({ log: ascii(value) }),
    'JSON of PHP': (value) => json(value).replaceAll('/', '\\/'),
    URL: (value) => `x=${encodeURIComponent(value)}`,
    'URL in upper case': (value) => `x=${percent(value, 'toUpperCase')}`,
    'URL in lower case': (value) => `x=${percent(value, 'toLowerCase')}`,
    'URL in URL': (value) => `x=${encodeURIComponent(encodeURIComponent(value))}`,
    'JSON in URL': (value) => `x=${encodeURIComponent(json(value))}`,
    'URL in JSON of Go': (value) => ascii(`?a=1&x=${encodeURIComponent(value)}`),
    form: (value) => `GET /login?${new URLSearchParams({ x: value })}`,
    XML: (value) => `<Message>${xml(value)}</Message>`,
  };

  test.each([
    'pa"ss\\word-9',
    'pässwörd-9',
    'pä😀ss-9x',
    'pa&ss<word>9',
    'pa/ss+word-9',
    'pass word%9',
    "it's*(9)!x",
    'tab\tin-it-99',
    'a%41b\\u0041&c',
    'pa%2541ss-9',
    'DOMAIN\\nicole-9',
    'hun&2',
    'hu"t2',
    'h\\t/2',
  ])('%s', (value) => {
    const found = Object.entries(forms).map(([name, write]) => [
      name,
      masked({ key: value }, `login ${write(value)}.`),
    ]);
    const expected = Object.entries(forms).map(([name, write]) => [
      name,
      `login ${write('MASK').replace('MASK', '(left out)')}.`,
    ]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  });

  test.each(['pa~~>>??ss-9', 'pässwörd-9', 'hunter2-value'])('%s, in base64 and in hexadecimal digits', (value) => {
    for (const before of ['', 'r:', 'roo:', 'root:', 'user1:'])
      for (const after of ['', '\n', '@h', ':22'])
        for (const encoding of ['base64', 'base64url', 'hex'] as const)
          expect(masked({ key: value }, `x ${Buffer.from(before + value + after).toString(encoding)} x`)).toMatch(
            /^x [\w=]{0,14}\(left out\)[\w=]{0,8} x$/,
          );
    const hex = Buffer.from(value).toString('hex');
    expect(masked({ key: value }, hex.toUpperCase())).toBe('(left out)');
  });

  test('what stands around it stays', () => {
    const text = '{"a":"x\\u0026\\"y\\"","key":"pa\\u0026ss\\u003cword\\u003e9","b":"50%25 \\/ more"}';
    expect(masked({ key: 'pa&ss<word>9' }, text)).toBe(
      '{"a":"x\\u0026\\"y\\"","key":"(left out)","b":"50%25 \\/ more"}',
    );
  });
});

describe('values within a file of a Secret', () => {
  const auth = Buffer.from('puller:S3cr3t-auth-pw').toString('base64');
  const docker = JSON.stringify({ auths: { 'r.io': { username: 'puller', password: 'S3cr3t-pull-pw', auth } } });
  const credentials =
    '[default]\naws_access_key_id = ID-of-a-test\naws_secret_access_key = w1x/Y2z+hidden\nregion = eu-west-1\n';
  test.each([
    ['.dockerconfigjson', docker, 'login to r.io with S3cr3t-pull-pw failed', 'login to r.io with (left out) failed'],
    ['.dockerconfigjson', docker, 'login to r.io with S3cr3t-auth-pw failed', 'login to r.io with (left out) failed'],
    ['.dockerconfigjson', docker, 'puller', 'puller'],
    ['credentials', credentials, 'signed with w1x/Y2z+hidden', 'signed with (left out)'],
    ['credentials', credentials, 'in eu-west-1', 'in eu-west-1'],
    ['config', 'a:\n  - keys:\n      "my": \'S3cr3t-yaml-pw\'\n', 'got S3cr3t-yaml-pw', 'got (left out)'],
    ['config', 'password: hunt2 # old\nmode: fast\n', 'got hunt2, fast', 'got (left out), fast'],
    ['config', 'password: 12345678\n', 'got 12345678', 'got (left out)'],
    ['dsn', 'postgres://ann:S3cr3t%2F1@db:5432/x?sslmode=require', 'got S3cr3t/1', 'got (left out)'],
    ['dsn', 'root:S3cr3t-dsn@tcp(db:3306)/x', 'got S3cr3t-dsn', 'got (left out)'],
    ['dsn', 'host=db-1.example user=ann password=S3cr3t-dsn', 'S3cr3t-dsn db-1.example', '(left out) db-1.example'],
    ['azure', 'AccountName=a;AccountKey=S3cr3tKey123==;X=y', 'got S3cr3tKey123==', 'got (left out)'],
    ['url', JSON.stringify({ proxy: 'http://ann:S3cr3t-proxy@p:3128' }), 'got S3cr3t-proxy', 'got (left out)'],
    [
      'gcp',
      '{"type":"service_account","token_uri":"https://a.example/o2"}',
      'service_account https://a.example/o2',
      undefined,
    ],
  ])('%s %j: %j', (key, value, text, expected) => {
    expect(masked({ [key]: value }, text)).toBe(expected ?? text);
  });

  test('a large or odd file takes no time', () => {
    const begun = performance.now();
    for (const part of ['a=b&', 'a:b@', '%25', '&amp;', '{"a":', '\\\\', '://', '= ', '- - '])
      masked({ key: part.repeat(20_000 / part.length) }, part.repeat(20_000 / part.length));
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});

test('what stands beside a certificate is left out, and the certificate is not', () => {
  const certificate = '-----BEGIN CERTIFICATE-----\nthe public part\n-----END CERTIFICATE-----';
  const found = masked({ bundle: `${certificate}\nsecret-of-the-proxy\n` }, 'the public part secret-of-the-proxy');
  expect(found).toBe('the public part (left out)');
});
