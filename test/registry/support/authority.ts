import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const openssl = (...args: readonly string[]) => execute('openssl', [...args]);
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/**
 * Files of a certificate authority in a directory. It is made once and kept: containerd reads the authorities that it trusts only
 * once, so that another one would need a restart of containerd on each node.
 */
export async function authorityIn(directory: string): Promise<string> {
  const certificate = join(directory, 'ca.crt');
  if (!existsSync(certificate)) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    await openssl(
      ...['req', '-x509', ...newKey, '-days', '3650', '-subj', '/CN=cdk8s-etcd: rehearsal of a release'],
      ...['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign'],
      ...['-keyout', join(directory, 'ca.key'), '-out', certificate],
    );
  }
  return certificate;
}

/** Makes `tls.crt` and `tls.key` for addresses, valid for a day. */
export async function certify(authority: string, directory: string, addresses: readonly string[]): Promise<void> {
  const file = (name: string) => join(directory, name);
  writeFileSync(file('names'), `subjectAltName=${addresses.map((address) => `IP:${address}`).join(',')}\n`);
  const request = file('tls.csr');
  await openssl('req', ...newKey, '-subj', '/CN=registry', '-keyout', file('tls.key'), '-out', request);
  await openssl(
    ...['x509', '-req', '-in', request, '-days', '1', '-extfile', file('names'), '-out', file('tls.crt')],
    ...['-CA', join(authority, 'ca.crt'), '-CAkey', join(authority, 'ca.key'), '-CAcreateserial'],
  );
}
