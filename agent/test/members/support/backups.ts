import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import type { Job, JobKind } from '../../../src/controllers/port/observed.ts';
import type { RestoreArgs } from '../../../src/protocol/record.ts';
import type { LocalCluster } from '../../local/cluster.ts';
import { type JobObject, nameOf } from '../../local/jobs/job-object.ts';
import { backupTlsOf } from '../../local/objects.ts';
import { agentCommand } from '../../local/pods/pod.ts';
import { backupUrlOf } from '../../local/port.ts';

/** Directory in which the schedules of a local cluster store their snapshots. */
export const backupsOf = ({ dir }: LocalCluster): string => join(dir, 'backups');

/** Directory of its own snapshots in a store at this path. */
export const folderIn = (path: string, { world }: LocalCluster): string => join(path, world.namespace, world.name);

/** Creates a schedule that encrypts, and a Secret with the identity. Returns the recipient. */
export async function encryptBackups(cluster: LocalCluster, schedule: string, secret: string): Promise<string> {
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  const directory = join(cluster.dir, 'secrets', secret);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'identity.txt'), identity);
  const settings = { stores: [`file://${backupsOf(cluster)}`], ageRecipients: [recipient] };
  writeFileSync(join(cluster.dir, 'schedules.json'), JSON.stringify({ [schedule]: settings }));
  return recipient;
}

/** Acts like the CronJob of a schedule: stores a verified snapshot. */
export async function takeBackup(cluster: LocalCluster, ...more: string[]): Promise<NonNullable<Job['backup']>> {
  const { world, spec } = cluster;
  const tls = backupTlsOf(world);
  const endpoints = world.ports.map((_, ordinal) => backupUrlOf(world, ordinal));
  const scratch = join(cluster.dir, 'cron-job');
  mkdirSync(scratch, { recursive: true });
  const args = [
    ...['backup', `--cluster=${world.name}`, `--namespace=${world.namespace}`],
    ...[`--store=file://${backupsOf(cluster)}`, '--output=json'],
    ...[`--endpoints=${endpoints.slice(0, spec.size)}`, `--scratch=${scratch}`],
    ...more,
    ...(tls ? [`--cacert=${tls.ca}`, `--cert=${tls.client.cert}`, `--key=${tls.client.key}`] : []),
  ];
  const [program, ...first] = agentCommand;
  const { stdout } = await promisify(execFile)(program!, [...first, ...args], { maxBuffer: 16 * 1024 * 1024 });
  return JSON.parse(stdout.trim().split('\n').at(-1)!).snapshot;
}

export const jobOf = (cluster: LocalCluster, kind: JobKind): JobObject | undefined =>
  cluster.store.read<JobObject>(nameOf(kind));

/** Kills the running pod of the Job. Returns false if there is none. */
export function killJob(cluster: LocalCluster, kind: JobKind): boolean {
  const pid = jobOf(cluster, kind)?.status.pid;
  if (pid === undefined) return false;
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** Waits until the snapshot of a restore is verified, and returns the result. */
export async function verifiedSnapshot(
  cluster: LocalCluster,
  seconds?: number,
): Promise<NonNullable<RestoreArgs['verified']>> {
  let verified: RestoreArgs['verified'];
  await cluster.until(
    () => {
      const op = cluster.record()?.op;
      if (op?.kind === 'Restore' || op?.kind === 'Recover') verified = op.args.verified;
      return verified !== undefined;
    },
    'a snapshot is verified',
    seconds,
  );
  return verified!;
}

/** Returns the logs that contain a forbidden text. With TLS there is no such text. */
export function logsWith({ dir, tls }: LocalCluster, secret: string): string[] {
  expect(secret === '').toBe(tls !== undefined);
  if (secret === '') return [];
  const logs = join(dir, 'logs');
  return readdirSync(logs).filter((name) => readFileSync(join(logs, name), 'utf8').includes(secret));
}

export function tokenOf(cluster: LocalCluster): string {
  const op = cluster.record()?.op;
  if (op?.kind !== 'Restore' && op?.kind !== 'Recover') throw new Error('no restore is in flight');
  return op.args.salvageToken ?? op.args.sourceToken;
}
