import { errorLike } from '../../test/support/error-like.ts';
import { ExitCode } from '../lib/errors.ts';
import { parseEndpoints } from './endpoints.ts';

test.each([
  [['10.0.0.1:2379'], false, ['http://10.0.0.1:2379']],
  [['10.0.0.1:2379'], true, ['https://10.0.0.1:2379']],
  [['https://a:2379, https://b:2379'], false, ['https://a:2379', 'https://b:2379']],
  [['a:1', 'b:2,,c:3'], false, ['http://a:1', 'http://b:2', 'http://c:3']],
  [['http://a:2379', 'a:2379', 'HTTP://A:2379/'], false, ['http://a:2379']],
  [['[::1]:2379'], false, ['http://[::1]:2379']],
  [['https://etcd.default.svc:443'], true, ['https://etcd.default.svc']],
  [['etcd.example.com.:2379'], false, ['http://etcd.example.com.:2379']],
])('%j, TLS %s', (given, tls, expected) => {
  expect(parseEndpoints(given, tls)).toEqual(expected);
});

test.each([
  [[], false, /at least one/],
  [[' , '], false, /at least one/],
  [['ftp://a:1'], false, /'ftp:\/\/a:1' is not an etcd endpoint/],
  [['a:b:c'], false, /'a:b:c' is not an etcd endpoint/],
  [['a:99999'], false, /is not an etcd endpoint/],
  [['10.0.0.1'], false, /'10\.0\.0\.1' has no port; write 10\.0\.0\.1:2379/],
  [['[::1]'], false, /has no port; write \[::1\]:2379/],
  [['https://etcd.default.svc/'], true, /has no port; write https:\/\/etcd\.default\.svc:2379/],
  [['http://a'], false, /has no port/],
  [['https://a:1/v3'], false, /has a path/],
  [['https://a:1?x=1'], false, /has a path/],
  [['http://a:1'], true, /plain http.*write https/],
])('%j, TLS %s is refused', (given, tls, message) => {
  expect(() => parseEndpoints(given, tls)).toThrow(
    expect.objectContaining({ exitCode: ExitCode.usage, message: expect.stringMatching(message) }),
  );
});

test('a password in an endpoint is refused', () => {
  expect(() => parseEndpoints(['https://root:secret@a:1'], false)).toThrow(
    errorLike(/contains a user$/, { at: 'endpoints', finding: { kind: 'userInEndpoint' } }),
  );
});
