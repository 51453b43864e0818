import type { Manifest } from '../../synth';
import type { Fault } from '../fault';
import { roles } from '../role';

const restarts = ({ status }: Manifest): number =>
  [...status.containerStatuses, ...status.initContainerStatuses].reduce(
    (sum, { restartCount }) => sum + restartCount,
    0,
  );

export const containerKilled: Fault = (draw) => {
  const role = draw.one(roles);
  const containers = draw.one(['etcd', 'agent', 'every container'] as const);
  return {
    what: `${containers} of ${role} killed`,
    run: async (stage) => {
      const ordinal = await stage.ordinal(role);
      const before = await stage.pod(ordinal);
      await stage.nodes.kill(before, containers);
      await stage.namespace.until('the restart to be counted', 90, async () =>
        restarts(await stage.pod(ordinal)) > restarts(before) ? true : undefined,
      );
    },
  };
};
