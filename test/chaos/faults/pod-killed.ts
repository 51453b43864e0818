import type { Fault } from '../fault';
import { roles } from '../role';

export const podKilled: Fault = (draw) => {
  const role = draw.one(roles);
  return {
    what: `the pod of ${role} deleted by force`,
    run: async (stage) => {
      const ordinal = await stage.ordinal(role);
      const kill = ['delete', 'pod', stage.cluster.pod(ordinal), '--grace-period=0', '--force'];
      await stage.madeAgain([ordinal], () => stage.namespace.kubectl(kill));
    },
  };
};
