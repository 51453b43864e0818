import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault';

export const scaled: Fault = (draw) => {
  const wait = draw.one([undefined, draw.between(5, 40)]);
  return {
    what: `scaled to 5, and ${wait === undefined ? 'when it is there' : `${wait} s later`} to 3`,
    run: async ({ cluster }) => {
      await cluster.apply({ size: 5 });
      if (wait === undefined) await cluster.ready(5);
      else await sleep(wait * 1_000);
      await cluster.apply({ size: 3 });
    },
  };
};
