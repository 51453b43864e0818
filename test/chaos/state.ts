import type { Stage } from './stage';

/** Returns everything that explains why a cluster did not recover. */
export async function state({ namespace, cluster }: Stage): Promise<string> {
  const tell = async (...args: string[]) => {
    const { stdout } = await namespace.kubectl(args).catch((error) => ({ stdout: String(error) }));
    return `$ kubectl ${args.join(' ')}\n${stdout}`;
  };
  const parts = [
    await tell('get', 'nodes'),
    await tell('get', 'pods,persistentvolumeclaims,jobs,etcdbackups,etcdrestores', '-o', 'wide'),
    await tell('get', 'etcdcluster', cluster.name, '-o', 'yaml'),
    await tell('get', 'configmap', `${cluster.name}-record`, '-o', 'jsonpath={.data.record\\.json}'),
    await tell('logs', 'deployment/etcd-reconciler', '--tail=60'),
    ...(await Promise.all(
      [0, 1, 2].flatMap((ordinal) =>
        ['agent', 'etcd'].map((container) => tell('logs', cluster.pod(ordinal), '-c', container, '--tail=25')),
      ),
    )),
    await tell('get', 'events', '--sort-by=.lastTimestamp'),
  ];
  return `${parts.join('\n\n')}\n`;
}
