import { setTimeout as sleep } from 'node:timers/promises';
import { kubectl } from '../../e2e/support/kubectl';
import type { Fault } from '../fault';
import { roles } from '../role';

export const drained: Fault = (draw) => {
  const role = draw.one(roles);
  const seconds = draw.between(0, 30);
  return {
    what: `the node of ${role} drained of it, and uncordoned ${seconds} s later`,
    run: async (stage) => {
      const { metadata, spec } = await stage.pod(await stage.ordinal(role));
      try {
        const pod = `--pod-selector=statefulset.kubernetes.io/pod-name=${metadata.name}`;
        await kubectl(['drain', spec.nodeName, pod, '--delete-emptydir-data', '--timeout=180s']);
        await sleep(seconds * 1_000);
      } finally {
        await kubectl(['uncordon', spec.nodeName]);
      }
    },
  };
};
