import { EtcdVersion } from '../../../src/etcd/etcd-version';
import type { Fault } from '../fault';
import type { Stage } from '../stage';

/** It begins with the first. */
export const versions = ['3.5.35', '3.6.16', '3.7.3'] as const;

export const upgraded: Fault = (draw) => {
  const halfWay = draw.oneIn(3);
  return {
    what: `upgraded to the next minor version${halfWay ? ', half way and back before' : ''}`,
    run: async (stage) => {
      const { spec } = await stage.cluster.resource();
      const from: string = spec.version;
      const to = versions.find((version) => version > from);
      if (!to) throw new Error(`none is newer than ${from}`);
      if (halfWay) {
        await apply(stage, to);
        await running(stage, `a member of ${to}`, (found) => found.includes(to));
        await apply(stage, from);
        await stage.cluster.ready(3);
      }
      await apply(stage, to);
      await running(stage, `all members of ${to}`, (found) => found.every((version) => version === to));
    },
  };
};

async function apply({ cluster }: Stage, version: string): Promise<void> {
  await cluster.apply({ version: EtcdVersion.of(version) });
}

async function running(stage: Stage, what: string, holds: (found: readonly string[]) => boolean): Promise<void> {
  await stage.namespace.until(what, 420, async () => {
    const found = await stage.statuses();
    return holds(found.map((status) => status?.version)) ? true : undefined;
  });
}
