import type { Fault } from '../fault';
import { roles } from '../role';

export const podDeleted: Fault = (draw) => {
  const role = draw.one(roles);
  return {
    what: `the pod of ${role} deleted`,
    run: async (stage) => {
      const ordinal = await stage.ordinal(role);
      await stage.madeAgain([ordinal], () => stage.cluster.deletePods(ordinal));
    },
  };
};
