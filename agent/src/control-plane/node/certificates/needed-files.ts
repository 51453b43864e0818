import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { SnapshotManifest } from '../../../backup/catalog/manifest.ts';
import { certificatesIn } from '../../../lib/certificates.ts';
import { usageError } from '../../../lib/errors.ts';
import { ifThere } from '../../../lib/files/file-faults.ts';
import type { Finding } from '../../../lib/finding.ts';
import { quoted } from '../../../lib/quoted.ts';
import { isOfContainer } from '../../../store/container-path.ts';
import { givenFlags } from '../etcd-flags.ts';
import { API_SERVER_MANIFEST, manifestsIn } from '../manifests.ts';
import type { EtcdNode } from '../node.ts';
import { readStaticPod } from '../static-pod.ts';
import { certificatesCommand } from './kubeadm-certificates.ts';

/** Flags of kube-apiserver whose value is a file that it reads at startup. */
const READS = /(file|config|certificate|client-key)$/;

/** Flags of kube-apiserver with a certificate without which it reaches no etcd, or no client reaches it. */
const SERVES = /^(etcd-cafile|etcd-certfile|tls-cert-file|tls-sni-cert-key|client-ca-file)$/;

/** Refuses if files are missing, or have expired, that etcd or the API server needs to start: the restore would stop half-way. */
export async function refuseUnusableFiles(
  { member }: EtcdNode,
  manifestsDir: string,
  manifest: Pick<SnapshotManifest, 'id' | 'extra' | 'host'>,
  readStored: () => Promise<StoredFiles>,
): Promise<void> {
  const tls = [member.clientTls, member.peerTls].flatMap(({ cacert, cert, key }) => [cacert, cert, key]);
  const { files: ofServer, certificates, encryptionConfig } = await filesOfApiServer(manifestsDir);
  const files = [...tls.filter((file) => file !== undefined), ...ofServer];
  const missing: string[] = [];
  for (const file of new Set(files)) if (await isMissing(file)) missing.push(file);
  if (missing.length === 0) return refuseExpired([...tls.filter((file) => file !== undefined), ...certificates]);
  const { text, finding } = await remedy(missing, { encryptionConfig, manifestsDir, manifest, readStored });
  throw usageError(
    `${missing.join(', ')}: ${missing.length === 1 ? 'is' : 'are'} missing, and etcd and the API server cannot start without ${missing.length === 1 ? 'it' : 'them'}${text}`,
    { finding },
  );
}

interface ServerFiles {
  readonly files: readonly string[];
  readonly certificates: readonly string[];
  readonly encryptionConfig?: string;
}

async function filesOfApiServer(manifestsDir: string): Promise<ServerFiles> {
  if (!(await manifestsIn(manifestsDir)).includes(API_SERVER_MANIFEST)) return { files: [], certificates: [] };
  const { args, hostPath } = await readStaticPod(join(manifestsDir, API_SERVER_MANIFEST), 'kube-apiserver');
  // Some flags may be given several times, each with a file of its own.
  const flags = givenFlags(args);
  const filesOf = (some: typeof flags) =>
    some
      .flatMap(filesOfFlag)
      .filter((file) => file.startsWith('/'))
      .map(hostPath);
  const encryption = flags.findLast(([name]) => name === 'encryption-provider-config')?.[1];
  return {
    files: filesOf(flags),
    certificates: filesOf(flags.filter(([name]) => SERVES.test(name))),
    encryptionConfig: encryption ? hostPath(encryption) : undefined,
  };
}

function filesOfFlag([name, value]: [name: string, value: string]): string[] {
  // A certificate and its key, and perhaps the names that they are for: `a.crt,a.key:a.com,b.com`.
  if (name === 'tls-sni-cert-key') return value.split(':')[0]!.split(',');
  return READS.test(name) ? [value] : [];
}

/** A file that is not mounted into the agent's container does not count as missing. */
async function isMissing(file: string): Promise<boolean> {
  const found = await ifThere(file, stat(file), 'etcd or the API server needs it');
  return found === undefined && !(await isOfContainer(file));
}

/** Files that all nodes of a control plane share. Other certificates belong to one node. */
const SHARED = /\/(ca|sa|front-proxy-ca)\.(crt|key|pub)$/;

/** The files beside the snapshot, by their absolute paths. */
export type StoredFiles = ReadonlyMap<string, Buffer>;

interface Request {
  readonly encryptionConfig: string | undefined;
  readonly manifestsDir: string;
  readonly manifest: Pick<SnapshotManifest, 'id' | 'extra' | 'host'>;
  readonly readStored: () => Promise<StoredFiles>;
}

/** Names only shared files from the backup of another node: the rest would give this node the identity of the other. */
async function remedy(
  missing: readonly string[],
  request: Request,
): Promise<{ readonly text: string; readonly finding?: Finding }> {
  const { manifestsDir, manifest, readStored } = request;
  const { id, extra, host } = manifest;
  const stored = extra ? await readStored().catch(() => undefined) : undefined;
  const pem = [...(stored ?? [])].find(([file]) => file.endsWith('/apiserver.crt'))?.[1].toString();
  const create = await certificatesCommand(manifestsDir, 'all', pem === undefined ? undefined : { pem, host });
  const isStored = (file: string) => stored?.has(file) ?? isBelow(file, extra?.paths ?? []);
  const named = stored ? [...stored.keys()].filter((file) => mayName(file, extra!.paths)) : withKeys(missing);
  const shared = await sharedOf(stored ? named : named.filter(isStored), request);
  if (shared.length === 0) {
    const [them, copies] = missing.length === 1 ? ['it', 'copy'] : ['them', 'copies'];
    const why = missing.some(isStored)
      ? `was made on another node, whose ${copies} must not be used here`
      : `holds no copy of ${them}`;
    return { text: `; the backup ${id} ${why}; create certificates with the existing CAs: ${create}` };
  }
  const tar = join(dirname(manifestsDir), 'extra.tar');
  return { text: '', finding: { kind: 'filesStored', id, nodeName: host?.nodeName, tar, files: shared, create } };
}

const isBelow = (file: string, paths: readonly string[]): boolean =>
  paths.map((path) => resolve(path)).some((path) => file === path || file.startsWith(`${path}/`));

/** The names of the files come from the store, and are printed in a command for root. */
const mayName = (file: string, paths: readonly string[]): boolean =>
  isBelow(file, paths) && !file.startsWith('/-') && !file.split('/').includes('..');

/** kubeadm signs with the keys of the authorities, which no flag of etcd or the API server names. */
const withKeys = (files: readonly string[]): string[] => [
  ...new Set(files.flatMap((file) => [file, ...(/ca\.crt$/.test(file) ? [file.replace(/\.crt$/, '.key')] : [])])),
];

async function sharedOf(files: readonly string[], { encryptionConfig }: Request): Promise<string[]> {
  const shared = files.filter((file) => SHARED.test(file) || file === encryptionConfig);
  const areMissing = await Promise.all(shared.map(isMissing));
  return shared.filter((_, n) => areMissing[n]);
}

/**
 * Refuses if etcd or the API server would start with a certificate that nobody accepts today. kubeadm's are valid for one year,
 * and a control plane that was off when they expired does not come back. Files without a certificate do not matter here.
 */
async function refuseExpired(files: readonly string[], now = new Date()): Promise<void> {
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
      throw usageError(
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
  throw usageError(`${expired.join(', ')}: expired on ${on}, and etcd and the API server refuse it; ${remedy}`);
}

const stamp = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z');
const keyOf = (certificate: string): string => certificate.replace(/(\.\w+)?$/, '.key');
