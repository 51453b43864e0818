import type { Fault } from '../fault';

export const nodeCut: Fault = (draw) => {
  const leads = draw.oneIn(2);
  const seconds = draw.between(10, 60);
  return {
    what: `the node of ${leads ? 'the leader' : 'a follower'} off the network for ${seconds} s`,
    run: (stage) => stage.nodes.without('cut', 'mend', leads, seconds),
  };
};
