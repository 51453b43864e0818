import { mkdirSync, writeFileSync } from 'node:fs';
import { rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterSpec } from '../../src/controllers/port/observed.ts';
import { defaultSettings, type ReconcilerSettings } from '../../src/controllers/port/settings.ts';
import {
  type Certificates,
  createCertificates,
  type KeyPair,
  mountPair,
  type TlsFiles,
} from '../harness/certificates.ts';
import { freePorts } from '../harness/free-ports.ts';
import type { Ports, WorldFile } from './objects.ts';

const mostPods = 7;

/** Shortened: minutes in a cluster are seconds here. */
export const testSettings: ReconcilerSettings = {
  ...defaultSettings,
  steady: 400,
  op: 100,
  next: 50,
  lease: 500,
  backoffMin: 200,
  backoffMax: 2_000,
  stable: 500,
  evidence: 300,
  promoteGap: 100,
  learnerStuck: 20_000,
  quorumLost: 2_000,
  unreachable: 3_000,
  hashEvery: 10_000,
  noSpaceBackoff: 5_000,
  retryFailed: 2_000,
};

export const testEtcdSettings = { 'heartbeat-interval': 100, 'election-timeout': 800 };

export const specOf = (size: number, version: string, tls: boolean): ClusterSpec => ({
  size,
  allowEvenSize: false,
  version,
  paused: false,
  tls,
  ephemeral: false,
  replace: { policy: 'OnVolumeLoss', force: [] },
  onShrink: 'Retain',
  onDelete: 'Retain',
  requiredForUpgrade: false,
  finalBackupRequired: false,
  onNoSpace: 'CompactDefragDisarm',
});

export interface NewWorld {
  readonly world: WorldFile;
  /** Certificates of the authority that issued the first ones. */
  readonly certificates?: Certificates;
}

export async function newWorld(dir: string, tls: boolean, users = false): Promise<NewWorld> {
  for (const each of ['api', 'crash/done', 'logs', 'backups']) mkdirSync(join(dir, each), { recursive: true });
  if (users && !tls) throw new Error('users need certificates');
  const ports = await freePorts(4 * mostPods);
  const certificates = tls ? await createCertificates(join(dir, 'tls/made-0')) : undefined;
  if (certificates) await mountCertificates(dir, certificates, users && (await usersOf(certificates)));
  const world: WorldFile = {
    name: 'main',
    namespace: 'default',
    ports: Array.from({ length: mostPods }, (_, ordinal) => portsOf(ports.slice(4 * ordinal))),
    ...(certificates && { tls: mountedFiles(dir) }),
    ...(users && {
      users: { root: pairIn(dir, 'root'), backup: pairIn(dir, 'backup'), ports: await freePorts(mostPods) },
    }),
  };
  writeFileSync(join(dir, 'world.json'), JSON.stringify(world));
  return { world, certificates };
}

function portsOf([peer, client, metrics, agent]: number[]): Ports {
  return { peer: peer!, client: client!, metrics: metrics!, agent: agent! };
}

function pairIn(dir: string, name: string): KeyPair {
  return { cert: join(dir, 'tls', name, 'tls.crt'), key: join(dir, 'tls', name, 'tls.key') };
}

function mountedFiles(dir: string): TlsFiles {
  return { ca: join(dir, 'tls/server/ca.crt'), server: pairIn(dir, 'server'), client: pairIn(dir, 'client') };
}

type UserPairs = Readonly<Record<'root' | 'backup', KeyPair>>;

/** Issues certificates of root and of backups. */
export const usersOf = async ({ clientNamed }: Certificates): Promise<UserPairs> => ({
  root: await clientNamed('root'),
  backup: await clientNamed('main-backup'),
});

let mounts = 0;

/** Creates directories like those of mounted Secrets: all files of a directory change at once. */
export async function mountCertificates(dir: string, made: TlsFiles, users: UserPairs | false): Promise<void> {
  mounts++;
  const pairs = { peer: made.server, server: made.server, client: made.client, ...users };
  for (const [secret, pair] of Object.entries(pairs)) {
    const target = await mountPair(join(dir, 'tls', `${secret}-${mounts}`), made.ca, pair);
    await symlink(target, `${target}.link`);
    await rename(`${target}.link`, join(dir, 'tls', secret));
  }
}
