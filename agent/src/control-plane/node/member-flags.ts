import { isAbsolute, resolve } from 'node:path';
import { walDirectory } from '../../etcd/offline/wal.ts';
import type { TlsFiles } from '../../etcd/tls.ts';
import { usageError } from '../../lib/errors.ts';
import type { Finding } from '../../lib/finding.ts';
import { memberDir } from './data-directory.ts';
import type { EtcdFlags } from './etcd-flags.ts';

/** Settings of the member on this node that a restore needs. Paths are paths on the host. */
export interface MemberFlags {
  readonly name: string;
  readonly dataDir: string;
  /** `--wal-dir`, if it is not etcd's default. */
  readonly walDir?: string;
  /** `--initial-advertise-peer-urls`, comma-separated. */
  readonly peerUrls: string;
  readonly listenPeerUrls: readonly string[];
  /** Peer URLs in `--initial-cluster`: the members at the time when this one joined. */
  readonly initialPeerUrls: readonly string[];
  /** URLs on which the member listens, and URLs that it advertises. */
  readonly clientUrls: readonly string[];
  readonly listenClientUrls: readonly string[];
  readonly metricsUrls: readonly string[];
  /** Largest database to which etcd still writes, in bytes. Undefined without a limit. */
  readonly quota?: number;
  readonly clientTls: TlsFiles;
  readonly peerTls: TlsFiles;
}

interface Where {
  /** Where the flags were read from, for errors. */
  readonly source: string;
  /** Maps a path of the process to a path on the host. */
  readonly hostPath?: (path: string) => string;
  /** Base of a relative data directory. */
  readonly workingDirectory?: string;
}

const DEFAULT_QUOTA = 2 * 1024 ** 3;

/** 0 is the default, and a negative number no limit. */
export function quotaOf(flag = '0'): number | undefined {
  const bytes = Number(flag);
  return bytes >= 0 ? bytes || DEFAULT_QUOTA : undefined;
}

const list = (value: string | undefined): string[] => (value ?? '').split(',').filter(Boolean);

/** Fills in etcd's defaults for missing flags. */
export function memberFlags(
  flags: EtcdFlags,
  { source, hostPath = (path) => path, workingDirectory }: Where,
): MemberFlags {
  const mistake = (message: string, finding?: Finding) => usageError(`${source}: ${message}`, { finding });
  if (/^(1|t|true)$/i.test(flags['force-new-cluster'] ?? '')) {
    throw mistake(
      'etcd is started with --force-new-cluster, which removes all other members at every start; remove it, on every node',
    );
  }
  const name = flags.name ?? 'default';
  const given = flags['data-dir'] ?? `${name}.etcd`;
  if (!isAbsolute(given) && workingDirectory === undefined) {
    throw mistake(`etcd's --data-dir ${given} is relative to an unknown directory`, { kind: 'dataDirUnknown' });
  }
  const walDir = flags['wal-dir'];
  if (walDir && !isAbsolute(walDir) && workingDirectory === undefined) {
    throw mistake(`etcd's --wal-dir ${walDir} is relative to an unknown directory; configure an absolute path`);
  }
  const dataDir = hostPath(resolve(workingDirectory ?? '/', given));
  const log = walDir && hostPath(resolve(workingDirectory ?? '/', walDir));
  // A flag that spells out etcd's default does not make the log separate.
  const isSeparate = log !== undefined && log !== '' && log !== walDirectory(dataDir);
  if (isSeparate && `${log}/`.startsWith(`${memberDir(dataDir)}/`)) {
    throw mistake(
      `etcd's --wal-dir ${log} is inside ${memberDir(dataDir)}, which a restore replaces as a whole; move it outside`,
    );
  }
  const listenClientUrls = list(flags['listen-client-urls'] ?? 'http://localhost:2379');
  const tls = (prefix: string): TlsFiles => {
    const file = (flag: string) => {
      const path = flags[`${prefix}${flag}`];
      return path ? hostPath(path) : undefined;
    };
    const [cacert, cert, key] = [file('trusted-ca-file'), file('cert-file'), file('key-file')];
    return { cacert: cacert || undefined, cert: cert || undefined, key: key || undefined };
  };
  const quota = quotaOf(flags['quota-backend-bytes']);
  return {
    name,
    dataDir,
    walDir: isSeparate ? log : undefined,
    peerUrls: flags['initial-advertise-peer-urls'] ?? 'http://localhost:2380',
    listenPeerUrls: list(flags['listen-peer-urls'] ?? 'http://localhost:2380'),
    initialPeerUrls: list(flags['initial-cluster']).map((part) => part.slice(part.indexOf('=') + 1)),
    clientUrls: [...new Set([...listenClientUrls, ...list(flags['advertise-client-urls'])])],
    listenClientUrls,
    metricsUrls: list(flags['listen-metrics-urls']),
    quota,
    clientTls: tls(''),
    peerTls: tls('peer-'),
  };
}
