import { secretsOf } from './certs.ts';

test('every Secret with a certificate in spec.tls, also of the source that is trusted too', () => {
  const other = { clientSecret: 'managed-client', peerAuthority: 'ca', clusterDomain: 'x' };
  const alsoTrust = { trustSecret: 'trust', peerSecrets: ['own-peer', 'managed-peer'], managed: other };
  expect(secretsOf({ clientSecret: 'own-client', disabling: true, alsoTrust })).toEqual([
    'own-client',
    'own-peer',
    'managed-peer',
    'managed-client',
    'ca',
  ]);
});
