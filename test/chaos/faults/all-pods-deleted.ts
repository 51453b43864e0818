import type { Fault } from '../fault';
import { roles } from '../role';

const all = [0, 1, 2];

export const allPodsDeleted: Fault = (draw) => {
  const role = draw.oneIn(2) ? draw.one(roles) : undefined;
  return {
    what: role ? `all pods deleted, and the volume of ${role}` : 'all pods deleted',
    run: async (stage) => {
      if (role === undefined) return stage.madeAgain(all, () => stage.cluster.deletePods(...all));
      const ordinal = await stage.ordinal(role);
      return stage.replaced(ordinal, () => stage.madeAgain(all, () => stage.loseVolumes([ordinal], all)));
    },
  };
};
