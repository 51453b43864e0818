import type { Fault } from '../fault';

export const reconcilerKilled: Fault = () => ({
  what: 'the reconciler killed',
  run: async ({ namespace }) => {
    const selector = '--selector=app.kubernetes.io/name=etcd-reconciler';
    await namespace.kubectl(['delete', 'pod', selector, '--grace-period=0', '--force']);
    await namespace.ready('deployment', 'etcd-reconciler');
  },
});
