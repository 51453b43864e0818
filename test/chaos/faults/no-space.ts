import { database, overwrite } from '../../operations/support/fill';
import type { Fault } from '../fault';

/** In MiB. */
export const quota = 64;

export const noSpace: Fault = () => ({
  what: 'the database filled up to its quota',
  run: async ({ cluster, namespace }) => {
    await namespace.until('a database that is nearly full', 300, async () => {
      await overwrite(cluster, 4);
      return (await database(cluster)).dbSize > (quota - 10) * 1024 ** 2 ? true : undefined;
    });
    const { revision } = await database(cluster);
    // A compaction keeps the last 1,000.
    await namespace.until('revisions beyond it', 240, async () => {
      const now = await database(cluster);
      return now.revision > revision + 1_000 ? true : undefined;
    });
    const refused = await overwrite(cluster, 3 * quota);
    if (!refused?.includes('space exceeded')) throw new Error(`the quota was not reached: ${refused}`);
    await namespace.until('no alarm', 300, async () => {
      const alarms = await cluster.etcdctl(['alarm', 'list']);
      return alarms === '' ? true : undefined;
    });
  },
});
