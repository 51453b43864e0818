import type { Fault } from '../fault';

export const reconcilerHandsOver: Fault = () => ({
  what: 'a second reconciler started, the first asked to go',
  run: async (stage) => {
    const { namespace } = stage;
    const holder = async () => (await namespace.get('lease', 'etcd-reconciler')).spec.holderIdentity;
    await stage.reconcilers(2);
    const before = await namespace.until('a holder', 90, async () => (await holder()) || undefined);
    await namespace.kubectl(['delete', 'pod', before, '--wait=false', '--ignore-not-found']);
    await namespace.until('another holder', 90, async () => {
      const now = await holder();
      return now && now !== before ? now : undefined;
    });
    await stage.reconcilers(1);
  },
});
