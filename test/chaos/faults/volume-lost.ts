import type { Fault } from '../fault';
import { roles } from '../role';

export const volumeLost: Fault = (draw) => {
  const role = draw.one(roles);
  return {
    what: `the volume of ${role} lost`,
    run: async (stage) => {
      const ordinal = await stage.ordinal(role);
      await stage.replaced(ordinal, () => stage.loseVolumes([ordinal]));
    },
  };
};
