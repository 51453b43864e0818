import { mkdirSync, writeFileSync } from 'node:fs';
import { copyFile, mkdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterSpec } from '../../src/controllers/cluster/observed.ts';
import { defaultSettings, type Settings } from '../../src/controllers/cluster/settings.ts';
import { type Certificates, createCertificates, type TlsFiles } from '../harness/certificates.ts';
import { freePorts } from '../harness/free-ports.ts';
import type { Ports, WorldFile } from './objects.ts';

const mostPods = 7;

/** Shortened: minutes in a cluster are seconds here. */
export const testSettings: Settings = {
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

export async function newWorld(dir: string, tls: boolean): Promise<NewWorld> {
  for (const each of ['api', 'crash/done', 'logs', 'backups']) mkdirSync(join(dir, each), { recursive: true });
  const ports = await freePorts(4 * mostPods);
  const certificates = tls ? await createCertificates(join(dir, 'tls/made-0')) : undefined;
  if (certificates) await mountCertificates(dir, certificates);
  const world: WorldFile = {
    name: 'main',
    namespace: 'default',
    ports: Array.from({ length: mostPods }, (_, ordinal) => portsOf(ports.slice(4 * ordinal))),
    ...(certificates && { tls: mountedFiles(dir) }),
  };
  writeFileSync(join(dir, 'world.json'), JSON.stringify(world));
  return { world, certificates };
}

function portsOf([peer, client, metrics, agent]: number[]): Ports {
  return { peer: peer!, client: client!, metrics: metrics!, agent: agent! };
}

const secrets = ['peer', 'server', 'client'] as const;

function mountedFiles(dir: string): TlsFiles {
  const pair = (name: string) => ({ cert: join(dir, 'tls', name, 'tls.crt'), key: join(dir, 'tls', name, 'tls.key') });
  return { ca: join(dir, 'tls/server/ca.crt'), server: pair('server'), client: pair('client') };
}

let mounts = 0;

/** Creates directories like those of mounted Secrets: all files of a directory change at once. */
export async function mountCertificates(dir: string, made: TlsFiles): Promise<void> {
  mounts++;
  for (const secret of secrets) {
    const target = join(dir, 'tls', `${secret}-${mounts}`);
    const { cert, key } = secret === 'client' ? made.client : made.server;
    await mkdir(target);
    await copyFile(made.ca, join(target, 'ca.crt'));
    await copyFile(cert, join(target, 'tls.crt'));
    await copyFile(key, join(target, 'tls.key'));
    await symlink(target, `${target}.link`);
    await rename(`${target}.link`, join(dir, 'tls', secret));
  }
}
