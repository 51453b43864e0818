import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault';

export const resourceDeleted: Fault = (draw) => {
  const seconds = draw.between(0, 20);
  return {
    what: `the EtcdCluster deleted alone, and applied again ${seconds} s later`,
    run: async ({ cluster, namespace }) => {
      await namespace.kubectl(['delete', 'etcdcluster', cluster.name, '--timeout=60s']);
      await sleep(seconds * 1_000);
      await cluster.apply();
    },
  };
};
