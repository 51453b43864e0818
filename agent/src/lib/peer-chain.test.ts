import type { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DetailedPeerCertificate } from 'node:tls';
import { type Certificates, createCertificates } from '../../test/harness/certificates.ts';
import { certificatesIn } from './certificates.ts';
import { revocationProblem } from './peer-chain.ts';
import { type RevocationList, readRevocationList } from './revocation-lists.ts';

let directory: string;
let certificates: Certificates;
let list: RevocationList;
let ca: X509Certificate[];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'peer-chain-'));
  certificates = await createCertificates(directory);
  list = readRevocationList(await certificates.revoking(certificates.expiredClient))!;
  ca = certificatesIn(await readFile(certificates.ca, 'utf8'))!;
});
afterAll(() => rm(directory, { recursive: true }));

/** As Node shows a chain. What TLS verifies cannot fail here; the tests of the servers have real connections. */
function shown([first, ...above]: readonly X509Certificate[]): DetailedPeerCertificate {
  const top = { raw: first!.raw } as DetailedPeerCertificate;
  top.issuerCertificate = above.length > 0 ? shown(above) : first!.ca ? top : (undefined as never);
  return top;
}

test('a chain that is whole is accepted, with its root or without it', async () => {
  const { client } = await certificates.clientBelow('whole');
  const [leaf, intermediate] = certificatesIn(await readFile(client.cert, 'utf8'))!;
  expect(revocationProblem(shown([leaf!, intermediate!]), list, ca)).toBeUndefined();
  expect(revocationProblem(shown([leaf!, intermediate!, ...ca]), list, ca)).toBeUndefined();
});

test('a chain of which a part is hidden, or that another authority of the same name signed, is not believed', async () => {
  const read = async () =>
    certificatesIn(await readFile((await certificates.clientBelow('same')).client.cert, 'utf8'))!;
  const [[leaf], [, intermediate]] = [await read(), await read()] as [X509Certificate[], X509Certificate[]];
  const unknown = 'the authorities between the certificate and ca.crt are not known, and may be revoked';
  expect(revocationProblem(shown([leaf!]), list, ca)).toBe(unknown);
  expect(revocationProblem(shown([leaf!, intermediate!, ...ca]), list, ca)).toBe(unknown);
  // Nothing is revoked.
  const empty = readRevocationList(await certificates.revoking())!;
  expect(revocationProblem(shown([leaf!]), empty, ca)).toBeUndefined();
});
