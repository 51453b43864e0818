import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Manifest } from '../../backup/catalog/manifest.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { quoted } from '../../lib/quoted.ts';
import { isOfContainer } from '../../store/container-path.ts';
import { flagsOfArguments } from './etcd-flags.ts';
import { API_SERVER_MANIFEST, manifestsIn } from './manifests.ts';
import type { EtcdNode } from './node.ts';
import { readStaticPod } from './static-pod.ts';

/** Flags of kube-apiserver whose value is a file that it reads when it starts. */
const READS = /(file|config|certificate|client-key)$/;

/** Without these files neither etcd nor the API server starts, so that the restore would end half-way. */
export async function refuseMissingFiles(
  { member }: EtcdNode,
  manifestsDir: string,
  manifest: Pick<Manifest, 'id' | 'extra' | 'host'>,
): Promise<void> {
  const tls = [member.clientTls, member.peerTls].flatMap(({ cacert, cert, key }) => [cacert, cert, key]);
  const { files: ofServer, encryptionConfig } = await filesOfApiServer(manifestsDir);
  const files = [...tls.filter((file) => file !== undefined), ...ofServer];
  const missing: string[] = [];
  for (const file of new Set(files)) if (await isMissing(file)) missing.push(file);
  if (missing.length === 0) return;
  throw new AgentError(
    ExitCode.usage,
    `${missing.join(', ')}: ${missing.length === 1 ? 'is' : 'are'} missing, and neither etcd nor the API server starts without; ${remedy(missing, encryptionConfig, manifestsDir, manifest)}`,
  );
}

async function filesOfApiServer(manifestsDir: string): Promise<{ files: string[]; encryptionConfig?: string }> {
  if (!(await manifestsIn(manifestsDir)).includes(API_SERVER_MANIFEST)) return { files: [] };
  const { args, hostPath } = await readStaticPod(join(manifestsDir, API_SERVER_MANIFEST), 'kube-apiserver');
  const flags = flagsOfArguments(args);
  const files = Object.entries(flags).flatMap(([name, value]) =>
    READS.test(name) && value.startsWith('/') ? [hostPath(value)] : [],
  );
  const encryption = flags['encryption-provider-config'];
  return { files, ...(encryption && { encryptionConfig: hostPath(encryption) }) };
}

/** What the agent's container does not see is not missing. */
async function isMissing(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found === undefined && !(await isOfContainer(file));
}

/** The same on all nodes of a control plane, unlike the certificates that each has of its own. */
const SHARED = /\/(ca|sa|front-proxy-ca)\.(crt|key|pub)$/;

/** Out of the backup of one node another one takes only what all have in common: the rest would make it that node. */
function remedy(
  missing: readonly string[],
  encryptionConfig: string | undefined,
  manifestsDir: string,
  { id, extra, host }: Pick<Manifest, 'id' | 'extra' | 'host'>,
): string {
  const isStored = (file: string) => extra?.paths.some((path) => file === path || file.startsWith(`${path}/`)) ?? false;
  const make = 'kubeadm init phase certs all makes certificates from the authorities that are there';
  const shared = missing.filter((file) => isStored(file) && (SHARED.test(file) || file === encryptionConfig));
  if (shared.length === 0) {
    const what = missing.length === 1 ? 'it' : 'them';
    const why = missing.some(isStored)
      ? `is another node's, so do not take ${what} from there`
      : `holds no copy of ${what}`;
    return `the backup ${id} ${why}; ${make}`;
  }
  const tar = quoted(join(dirname(manifestsDir), 'extra.tar'));
  const from = host?.nodeName ? ` (of ${host.nodeName})` : '';
  const members = shared.map((file) => quoted(file.slice(1))).join(' ');
  return `bring back what the backup holds${from} and all nodes share: etcd-agent restore extra ${quoted(id)} --to=${tar}, with the same --store, --cluster and --age-identity-file, then tar -xpf ${tar} -C / ${members}; ${make}`;
}
