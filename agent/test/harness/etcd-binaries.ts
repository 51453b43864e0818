import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

const minors = ['3.4', '3.5', '3.6', '3.7'] as const;
export type Minor = (typeof minors)[number];

export interface EtcdBinaries {
  readonly minor: Minor;
  /** The full version, such as 3.6.16. */
  readonly version: string;
  readonly etcd: string;
  readonly etcdctl: string;
}

const { CDK8S_ETCD_CACHE, XDG_CACHE_HOME } = process.env;
/** Directory into which scripts/provide/etcd.mjs and scripts/provide/versitygw.mjs put their programs. */
export const cacheDirectory = resolve(
  CDK8S_ETCD_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'cdk8s-etcd'),
);
const directoryOf = (minor: Minor) => join(cacheDirectory, 'etcd', minor);
const isThere = (minor: Minor) => existsSync(join(directoryOf(minor), 'version'));

export const availableMinors = (): Minor[] => minors.filter(isThere);
/** Minors that this machine lacks, so that a suite over every minor cannot test them. */
export const missingMinors = (): Minor[] => minors.filter((minor) => !isThere(minor));

export function etcdOf(minor: Minor): EtcdBinaries {
  if (!isThere(minor)) throw new Error(`no etcd ${minor} in the cache; \`npm run suite -- etcd\` provides it`);
  const directory = directoryOf(minor);
  const version = readFileSync(join(directory, 'version'), 'utf8').trim();
  return { minor, version, etcd: join(directory, 'etcd'), etcdctl: join(directory, 'etcdctl') };
}

/** The newest etcd that comes with its etcdutl. */
export function newestEtcd(): EtcdBinaries {
  const newest = availableMinors().findLast((minor) => minor !== '3.4');
  if (!newest) throw new Error('no etcd 3.5 or newer in the cache; `npm run suite -- etcd` provides it');
  return etcdOf(newest);
}

/** The newest etcdutl: it restores the snapshots of every minor. */
export const etcdutl = (): string => join(directoryOf(newestEtcd().minor), 'etcdutl');
