import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError, codeOf, ExitCode } from '../lib/errors.ts';
import type { MemberConfig } from './member-config.ts';

/**
 * Names a certificate file that does not exist yet: etcd would exit again and again without it. Throws if one exists
 * and cannot be read.
 */
export async function missingCertificate({
  peerTlsDir,
  serverTlsDir,
}: Pick<MemberConfig, 'peerTlsDir' | 'serverTlsDir'>): Promise<string | undefined> {
  const directories = [peerTlsDir, serverTlsDir].filter((directory) => directory !== undefined);
  for (const file of directories.flatMap((directory) => names.map((name) => join(directory, name)))) {
    const code = await access(file, constants.R_OK).then(() => undefined, codeOf);
    if (code === 'ENOENT')
      return `${file} does not exist yet; waiting until the reconciler, or cert-manager, writes it into its Secret`;
    if (code !== undefined) throw new AgentError(ExitCode.usage, `${file} cannot be read (${code})`);
  }
  return undefined;
}

const names = ['tls.crt', 'tls.key', 'ca.crt'];
