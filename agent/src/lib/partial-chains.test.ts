import './partial-chains.ts';
import { webcrypto } from 'node:crypto';
import { duplexPair } from 'node:stream';
import { connect, createSecureContext, TLSSocket } from 'node:tls';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
const common = { signingAlgorithm: algorithm, notAfter: new Date(Date.now() + 86_400_000) };
const isAuthority = [new x509.BasicConstraintsExtension(true, undefined, true)];

test('an authority file with an intermediate alone is trusted, as by etcdctl, and no other authority', async () => {
  const [rootKeys, keys, leafKeys] = await Promise.all([newKeys(), newKeys(), newKeys()]);
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...{ ...common, name: 'CN=root', keys: rootKeys, extensions: isAuthority },
  });
  const intermediate = await x509.X509CertificateGenerator.create({
    ...{ ...common, subject: 'CN=intermediate', issuer: root.subject, extensions: isAuthority },
    ...{ publicKey: keys.publicKey, signingKey: rootKeys.privateKey },
  });
  const leaf = await x509.X509CertificateGenerator.create({
    ...{ ...common, subject: 'CN=etcd', issuer: intermediate.subject },
    ...{ publicKey: leafKeys.publicKey, signingKey: keys.privateKey },
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'etcd' }])],
  });
  const key = x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', leafKeys.privateKey), 'PRIVATE KEY');
  const handshake = async (ca: string) => {
    const [near, far] = duplexPair();
    const secureContext = createSecureContext({ cert: leaf.toString('pem'), key });
    new TLSSocket(far, { isServer: true, secureContext }).on('error', () => {});
    const socket = connect({ socket: near, ca, servername: 'etcd' });
    const { promise, resolve } = Promise.withResolvers<string>();
    socket.on('secureConnect', () => resolve('trusted')).on('error', ({ message }) => resolve(message));
    return promise.finally(() => socket.destroy());
  };
  expect(await handshake(intermediate.toString('pem'))).toBe('trusted');
  expect(await handshake(root.toString('pem'))).toMatch(/unable to/);
});
