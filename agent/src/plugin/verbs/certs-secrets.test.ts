import { secretsOf } from './certs.ts';

test('every Secret with a certificate in spec.tls, also of the source that is trusted too', () => {
  const managed = { peerAuthority: 'ca', serverNames: ['x'] };
  const alsoTrust = { trustSecret: 'trust', peerSecret: 'managed-peer', clientSecret: 'managed-client', managed };
  const certManager = { issuer: 'x' };
  expect(
    secretsOf({ peerSecret: 'own-peer', clientSecret: 'own-client', certManager, disabling: true, alsoTrust }),
  ).toEqual(['own-peer', 'own-client', 'managed-peer', 'managed-client', 'ca']);
});
