import { connectionError, greetingError } from '../../etcd/grpc-errors.ts';
import { asRefusal } from './connections.ts';

const failure = (code: string) => Object.assign(new Error('x'), { code });
const codes = ['SELF_SIGNED_CERT_IN_CHAIN', 'ERR_SSL_PEER_CERTIFICATE_REQUIRED', 'ERR_SSL_ALERT_BAD_CERTIFICATE'];

test.each([...codes, 'ERR_SSL_ALERT_CERTIFICATE_EXPIRED', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ECONNRESET', 'ENOTFOUND'])(
  'an error of the reconciler gives no advice about flags that it does not have: %s',
  (code) => {
    const error = connectionError('https://orders-0:2379', failure(code));
    const { message } = asRefusal('https://orders-0:2379', error) as Error;
    expect(message).toContain('etcd at https://orders-0:2379');
    expect(message).not.toMatch(/ --[a-z]|write http/);
  },
);

test('what it says besides stays', () => {
  const closed = greetingError('http://orders-0:2379', undefined);
  expect((asRefusal('http://orders-0:2379', closed) as Error).message).toBe(
    'etcd at http://orders-0:2379 closed the connection',
  );
});
