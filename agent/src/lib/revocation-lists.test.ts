import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { derDigits, lists, type RevocationList, readRevocationList } from './revocation-lists.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const now = new Date('2026-01-01T00:00:00Z');

let keys: webcrypto.CryptoKeyPair;
beforeAll(async () => {
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
  keys = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
});

/** Serial numbers in hex, as DER integers: a leading zero byte if the top bit is set. */
async function listOf(
  serials: readonly string[],
  change: Partial<x509.X509CrlCreateParams> = {},
): Promise<RevocationList> {
  const list = await x509.X509CrlGenerator.create({
    ...{ issuer: 'CN=ca', thisUpdate: now, nextUpdate: new Date(now.getTime() + 86_400_000) },
    entries: serials.map((serial) => ({ serialNumber: derDigits(serial), revocationDate: now })),
    signingKey: keys.privateKey,
    signingAlgorithm: algorithm,
    ...change,
  });
  return readRevocationList(Buffer.from(list.rawData))!;
}

test('finds serial numbers whose top bit is set, as certificates spell them', async () => {
  const list = await listOf(['F1E2D3C4B5A69788', '71E2D3C4B5A69788', 'FF', '0A']);
  for (const serial of ['F1E2D3C4B5A69788', 'f1e2d3c4b5a69788', '71E2D3C4B5A69788', 'FF', '0A', 'A'])
    expect([serial, lists(list, serial)]).toEqual([serial, true]);
  for (const serial of ['E2D3C4B5A69788', 'F1E2D3C4B5A69789', 'F1', '00', '1'])
    expect([serial, lists(list, serial)]).toEqual([serial, false]);
});

test('what is in a list beside its entries is not a serial number', async () => {
  // The version of every list is the integer 1; its number, and the reason of an entry, are bytes of the same form.
  const list = await listOf(['7777'], { extensions: [new x509.Extension('2.5.29.20', false, Uint8Array.of(2, 1, 5))] });
  for (const serial of ['1', '01', '5', '00', '2A8648CE3D0403'])
    expect([serial, lists(list, serial)]).toEqual([serial, false]);
  expect(lists(await listOf([]), '1')).toBe(false);
});

test('reads the entries of lists of any length, as the library that makes certificates does', async () => {
  for (const count of [0, 1, 3, 7, 90, 700]) {
    const serials = Array.from({ length: count }, (_, i) => (i * i * 7919 + 1).toString(16)).map(
      (hex) => `7${hex.padStart(15, '0')}`,
    );
    const list = await listOf(serials);
    expect(list.serials).toEqual(new Set(serials.map((hex) => hex.toUpperCase())));
  }
});
