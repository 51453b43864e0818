import { generateKeyPairSync } from 'node:crypto';
import { leaks, needlesOf } from './leaks';

const { privateKey } = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const password = 'correct horse battery';
const certificate = 'public'.repeat(8);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const secret = {
  'tls.key': base64(privateKey),
  'ca.crt': base64(`-----BEGIN CERTIFICATE-----\n${certificate}\n`),
  password: base64(`${password}\n`),
  AWS_ACCESS_KEY_ID: base64('access-key-of-everybody'),
};
const needles = needlesOf('orders', secret);
const found = (text: string) => leaks([{ where: 'log', text }], needles);

const lines = privateKey.split('\n').slice(1, -2);

test.each<[string, string]>([
  ['as it is', `the password is ${password}.`],
  ['base64', `{"password":"${base64(password)}"}`],
  ['base64 of a longer text', base64(`user:${password}`)],
  ['base64 of a longer text, shifted', base64(`use:${password}:more`)],
  ['base64 of a longer text, shifted again', base64(`us:${password}!`)],
])('a password, %s', (_, text) => expect(found(text)).toEqual(['log: password of Secret orders']));

test.each<[string, string]>([
  ['whole', privateKey],
  ['in JSON', JSON.stringify({ key: privateKey })],
  ['one line of it', `invalid: ${lines[1]}`],
  ['base64', base64(privateKey)],
])('a private key, %s', (_, text) => expect(found(text)).toContain('log: tls.key of Secret orders'));

test('public values do not count as a leak', () => {
  expect(found(`${certificate} access-key-of-everybody correct horse`)).toEqual([]);
});

test.each<[string, string]>([
  ['a private key', '-----BEGIN EC PRIVATE KEY-----'],
  ['a secret key of age', 'AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQ'],
  ['a token of the Kubernetes API', `Bearer eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(30)}.sig`],
])('%s of somebody else', (name, text) => expect(found(text)).toEqual([`log: ${name}`]));

test('a message never quotes the secret', () => {
  expect(found(`${password} ${privateKey}`).join()).not.toMatch(/correct|BEGIN/);
});
