import { EtcdVersion } from '../../../src';
import { playWithNightly } from '../../e2e/support/orders-backups';
import type { S3 } from '../../e2e/support/s3';
import type { Play, PlayOptions } from '../../e2e/watch/play';
import type { Manifest } from '../../synth';
import { leaderOf, versionsOf } from './member-versions';

/**
 * A cluster that begins with this version and a backup schedule. Attempts of its client count, so it knows only
 * existing members.
 */
export const playOn = (version: string, purpose: string, options: PlayOptions = {}): Promise<{ play: Play; s3: S3 }> =>
  playWithNightly(purpose, { props: { version: EtcdVersion.of(version) }, known: 3, users: true, ...options });

export const applyVersion = (play: Play, version: string): Promise<string> =>
  play.cluster.apply({ version: EtcdVersion.of(version) });

/**
 * Upgrades only by applying the manifests, unnoticed by clients: first a verified snapshot, then one member after the
 * other, the leader last.
 */
export async function upgrade(play: Play, s3: S3, version: string): Promise<void> {
  const { cluster } = play;
  const leader = await leaderOf(cluster);
  const had = await snapshots(s3);
  await play.unnoticed(`to ${version}`, 3, () => applyVersion(play, version));
  expect(await versionsOf(cluster)).toEqual([version, version, version]);
  expect(await snapshots(s3)).toBe(had + 1);

  const pods = await cluster.pods();
  const made = pods.map(({ metadata }) => Date.parse(metadata.creationTimestamp));
  const led = pods.find(({ metadata }) => metadata.name === leader)!;
  expect(Date.parse(led.metadata.creationTimestamp)).toBe(Math.max(...made));
  const { status } = await play.namespace.get('job', `${cluster.name}-pre-upgrade`);
  expect(Date.parse(status.completionTime)).toBeLessThanOrEqual(Math.min(...made));
}

const snapshots = async (s3: S3): Promise<number> =>
  (await s3.files()).filter((file) => /[0-9a-f]{6}\.json$/.test(file)).length;

/** Waits until a member runs this minor version. */
export async function begun(play: Play, minor: string): Promise<void> {
  await play.namespace.until(`a member of ${minor}`, 420, async () => {
    const found = await versionsOf(play.cluster).catch(() => []);
    return found.some((version) => version.startsWith(`${minor}.`)) ? found : undefined;
  });
}

export async function refused(play: Play): Promise<Manifest> {
  return play.namespace.until('the refusal', 60, async () => {
    const condition = await play.cluster.condition('Accepted');
    return condition?.status === 'False' ? condition : undefined;
  });
}
