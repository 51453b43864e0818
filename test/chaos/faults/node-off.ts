import type { Fault } from '../fault';

export const nodeOff: Fault = (draw) => {
  const leads = draw.oneIn(2);
  const seconds = draw.between(20, 120);
  return {
    what: `the node of ${leads ? 'the leader' : 'a follower'} off for ${seconds} s`,
    run: (stage) => stage.nodes.without('off', 'on', leads, seconds),
  };
};
