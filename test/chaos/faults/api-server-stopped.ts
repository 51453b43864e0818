import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault';
import { roles } from '../role';

export const apiServerStopped: Fault = (draw) => {
  const seconds = draw.between(10, 50);
  const role = draw.oneIn(2) ? draw.one(roles) : undefined;
  return {
    what: `the API server stopped for ${seconds} s${role ? `, etcd of ${role} killed meanwhile` : ''}`,
    run: async (stage) => {
      const pod = role && (await stage.pod(await stage.ordinal(role)));
      await stage.nodes.withoutApiServer(async () => {
        if (pod) await stage.nodes.kill(pod, 'etcd');
        await sleep(seconds * 1_000);
      });
    },
  };
};
