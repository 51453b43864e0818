import { readFile } from 'node:fs/promises';
import { certificatesIn } from '../../../lib/certificates.ts';
import { AgentError, ExitCode } from '../../../lib/errors.ts';
import { quoted } from '../../../lib/quoted.ts';

/**
 * Refuses if etcd or the API server would start with a certificate that nobody accepts today. kubeadm's are valid for one year,
 * and a control plane that was off when they expired does not come back. Files without a certificate do not matter here.
 */
export async function refuseExpired(files: readonly string[], now = new Date()): Promise<void> {
  const expired: string[] = [];
  let authority: string | undefined;
  let on: string | undefined;
  for (const file of new Set(files)) {
    const all = certificatesIn(await readFile(file, 'utf8').catch(() => ''));
    const [first] = all ?? [];
    if (!all || !first) continue;
    // Of a file of authorities one is enough. Otherwise the others are only the chain of the first.
    const counted = first.ca ? all : [first];
    if (counted.every(({ validFromDate }) => validFromDate > now)) {
      throw refused(
        `${file}: valid only from ${stamp(first.validFromDate)}; correct the clock of this node, which says ${stamp(now)}`,
      );
    }
    if (!counted.every(({ validToDate }) => validToDate < now)) continue;
    expired.push(file);
    on ??= stamp(first.validToDate);
    if (first.ca) authority ??= file;
  }
  if (expired.length === 0) return;
  const remedy = authority
    ? `kubeadm renews no authority: sign it again with its own key (openssl x509 -in ${quoted(authority)} -signkey ${quoted(keyOf(authority))} -days 3650 -out ${quoted(`${authority}.new`)}), copy it to all nodes, then on every node: kubeadm certs renew all`
    : 'on every node: kubeadm certs renew all';
  throw refused(`${expired.join(', ')}: expired on ${on}, and etcd and the API server refuse it; ${remedy}`);
}

const refused = (message: string) => new AgentError(ExitCode.usage, message);
const stamp = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z');
const keyOf = (certificate: string): string => certificate.replace(/(\.\w+)?$/, '.key');
