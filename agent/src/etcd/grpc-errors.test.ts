import { ExitCode } from '../lib/errors.ts';
import { statusError } from './grpc-errors.ts';

test.each([
  ['etcdserver: request timed out', ExitCode.etcdUnavailable],
  ['etcdserver: leader changed', ExitCode.etcdUnavailable],
  ['etcdserver: no leader', ExitCode.etcdUnavailable],
  ['etcdserver: invalid auth token', ExitCode.etcdUnavailable],
  ['etcdserver: authentication failed, invalid user ID or password', ExitCode.usage],
  ['etcdserver: authentication failed, password was given for no password user', ExitCode.usage],
  ['etcdserver: user name is empty', ExitCode.usage],
  ['etcdserver: permission denied', ExitCode.usage],
])('%s', (message, exitCode) => {
  expect(statusError('http://a', 2, message)).toMatchObject({ exitCode });
});
