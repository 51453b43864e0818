import { setTimeout as sleep } from 'node:timers/promises';
import { majorityLossTold, recovered } from '../../operations/support/survivor-recovery';
import type { Fault } from '../fault';
import { roles } from '../role';

export const quorumLost: Fault = (draw) => {
  const role = draw.one(roles);
  const restarted = draw.oneIn(2);
  const looks = draw.between(0, 15);
  return {
    what: `all volumes lost but that of ${role}, recovered from it ${restarted ? 'after a restart, ' : ''}${looks} s later`,
    run: async (stage) => {
      const survivor = await stage.ordinal(role);
      await stage.loseVolumes([0, 1, 2].filter((ordinal) => ordinal !== survivor));
      await majorityLossTold(stage.play);
      if (restarted) await stage.madeAgain([survivor], () => stage.cluster.deletePods(survivor));
      await sleep(looks * 1_000);
      await recovered(stage.play, stage.name('recovery'));
    },
  };
};
