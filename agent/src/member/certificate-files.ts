import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError, codeOf, ExitCode } from '../lib/errors.ts';
import { readFault } from '../lib/files/file-faults.ts';
import type { MemberConfig } from './member-config.ts';

/**
 * Names a certificate file that does not exist yet: etcd would exit again and again without it. Throws if one exists
 * and cannot be read.
 */
export async function missingCertificate({
  peerTlsDir,
  serverTlsDir,
  backup,
}: Pick<MemberConfig, 'peerTlsDir' | 'serverTlsDir' | 'backup'>): Promise<string | undefined> {
  const directories = [peerTlsDir, serverTlsDir, backup?.rootTlsDir].filter((directory) => directory !== undefined);
  for (const file of directories.flatMap((directory) => names.map((name) => join(directory, name)))) {
    const error = await access(file, constants.R_OK).catch((thrown) => thrown);
    if (codeOf(error) === 'ENOENT')
      return `${file} does not exist yet; waiting until the reconciler, or cert-manager, writes it into its Secret`;
    if (error) throw new AgentError(ExitCode.usage, `${file} cannot be read ${readFault(error)}`);
  }
  return undefined;
}

const names = ['tls.crt', 'tls.key', 'ca.crt'];
