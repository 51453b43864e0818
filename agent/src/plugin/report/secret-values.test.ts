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

test.each([['pa"ss\\word-9'], ['p\u00e4ss/w\u00f6rd+9'], ['pass word%9'], ["it's*(9)!x"], ['tab\tin-it-99']])(
  'every form in which a log may have %j is masked',
  (value) => {
    const json = JSON.stringify({ msg: `login as ${value}` });
    const forms = [
      json,
      JSON.stringify({ log: json }),
      `GET /login?x=${encodeURIComponent(value)}`,
      `GET /login?${new URLSearchParams({ x: value })}`,
      `x ${Buffer.from(value).toString('hex')} x`,
      `x ${Buffer.from(value).toString('base64')} x`,
    ];
    for (const text of forms) expect(masked({ password: value }, text)).toContain('(left out)');
  },
);

test('what stands beside a certificate is left out, and the certificate is not', () => {
  const certificate = '-----BEGIN CERTIFICATE-----\nthe public part\n-----END CERTIFICATE-----';
  const found = masked({ bundle: `${certificate}\nsecret-of-the-proxy\n` }, 'the public part secret-of-the-proxy');
  expect(found).toBe('the public part (left out)');
});
