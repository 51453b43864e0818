import { isAbsolute, resolve } from 'node:path';
import { walDirectory } from '../../etcd/offline/wal.ts';
import type { TlsFiles } from '../../etcd/tls.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { memberDir } from '../state/data-folders.ts';
import type { EtcdFlags } from './etcd-flags.ts';

/** What a restore needs to know of the member on this node. Paths are those of the host. */
export interface MemberFlags {
  readonly name: string;
  readonly dataDir: string;
  /** `--wal-dir`, where it is a place of its own. */
  readonly walDir?: string;
  /** `--initial-advertise-peer-urls`: one or several, comma-separated. */
  readonly peerUrls: string;
  readonly listenPeerUrls: readonly string[];
  /** Peer URLs of `--initial-cluster`: those that were there when this member joined. */
  readonly initialPeerUrls: readonly string[];
  /** Those it listens on and those it advertises. */
  readonly clientUrls: readonly string[];
  readonly listenClientUrls: readonly string[];
  readonly metricsUrls: readonly string[];
  readonly clientTls: TlsFiles;
  readonly peerTls: TlsFiles;
}

interface Where {
  /** What they were read from, for errors. */
  readonly source: string;
  /** A path as the process sees it, on the host. */
  readonly hostPath?: (path: string) => string;
  /** That a relative data directory lies in. */
  readonly workingDirectory?: string;
}

const list = (value: string | undefined): string[] => (value ?? '').split(',').filter(Boolean);

/** With etcd's own defaults. */
export function memberFlags(
  flags: EtcdFlags,
  { source, hostPath = (path) => path, workingDirectory }: Where,
): MemberFlags {
  const mistake = (message: string) => new AgentError(ExitCode.usage, `${source}: ${message}`);
  const name = flags.name ?? 'default';
  const given = flags['data-dir'] ?? `${name}.etcd`;
  if (!isAbsolute(given) && workingDirectory === undefined) {
    throw mistake(`etcd's --data-dir ${given} is relative, and nobody knows to what; give --data-dir`);
  }
  const walDir = flags['wal-dir'];
  if (walDir && !isAbsolute(walDir) && workingDirectory === undefined) {
    throw mistake(`etcd's --wal-dir ${walDir} is relative, and nobody knows to what; give it as an absolute path`);
  }
  const dataDir = hostPath(resolve(workingDirectory ?? '/', given));
  const log = walDir && hostPath(resolve(workingDirectory ?? '/', walDir));
  // Written out, etcd's own default is no other place.
  const isOwnPlace = log !== undefined && log !== '' && log !== walDirectory(dataDir);
  if (isOwnPlace && `${log}/`.startsWith(`${memberDir(dataDir)}/`)) {
    throw mistake(
      `etcd's --wal-dir ${log} lies in ${memberDir(dataDir)}, which a restore replaces as a whole; give it a place outside of it`,
    );
  }
  const listenClientUrls = list(flags['listen-client-urls'] ?? 'http://localhost:2379');
  const tls = (prefix: string): TlsFiles => {
    const file = (flag: string) => {
      const path = flags[`${prefix}${flag}`];
      return path ? hostPath(path) : undefined;
    };
    const [cacert, cert, key] = [file('trusted-ca-file'), file('cert-file'), file('key-file')];
    return { ...(cacert && { cacert }), ...(cert && { cert }), ...(key && { key }) };
  };
  return {
    name,
    dataDir,
    ...(isOwnPlace && { walDir: log }),
    peerUrls: flags['initial-advertise-peer-urls'] ?? 'http://localhost:2380',
    listenPeerUrls: list(flags['listen-peer-urls'] ?? 'http://localhost:2380'),
    initialPeerUrls: list(flags['initial-cluster']).map((part) => part.slice(part.indexOf('=') + 1)),
    clientUrls: [...new Set([...listenClientUrls, ...list(flags['advertise-client-urls'])])],
    listenClientUrls,
    metricsUrls: list(flags['listen-metrics-urls']),
    clientTls: tls(''),
    peerTls: tls('peer-'),
  };
}
