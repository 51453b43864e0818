import { setTimeout as sleep } from 'node:timers/promises';
import { withoutApiServer } from '../e2e/support/api-server';
import { kubectl } from '../e2e/support/kubectl';
import { drive, onNode } from '../e2e/support/node-driver';
import { workerMember } from '../operations/support/worker-member';
import type { Manifest } from '../synth';
import type { Stage } from './stage';

export type Containers = 'etcd' | 'agent' | 'every container';

/** Shell condition on a node: the process $p is one of them. */
const isOneOf: Record<Containers, string> = {
  etcd: '[ "$(cat $p/comm)" = etcd ]',
  agent: 'grep -q etcd-agent $p/cmdline',
  'every container': '[ "$(cat $p/comm)" != pause ]',
};

/** The nodes under the cluster. */
export class Nodes {
  readonly withoutApiServer = withoutApiServer;
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** The S3 server runs on the node of the client, so that any other node can be taken away. */
  async gather(): Promise<void> {
    const { namespace } = this.#stage;
    const { nodeName } = (await namespace.get('pod', 'orders-client')).spec;
    const patch = { spec: { template: { spec: { nodeName } } } };
    await namespace.kubectl(['patch', 'statefulset', 's3', '-p', JSON.stringify(patch)]);
    await namespace.ready('statefulset', 's3');
  }

  /**
   * Switches off a member's node for a while: one without the client and an API server, and optionally the leader's
   * node.
   */
  async without(away: 'off' | 'cut', back: 'on' | 'mend', leads: boolean, seconds: number): Promise<void> {
    const { node, ordinal } = await workerMember(this.#stage.play);
    await this.#elect(ordinal, leads);
    await drive(away, node);
    try {
      await sleep(seconds * 1_000);
    } finally {
      await drive(back, node);
    }
    await kubectl(['wait', '--for=condition=Ready', '--timeout=240s', `node/${node}`]);
  }

  /** Kills the processes of a pod without informing Kubernetes. */
  async kill({ metadata, spec }: Manifest, containers: Containers): Promise<void> {
    const pod = metadata.uid.replaceAll('-', '[-_]');
    const each = `grep -qE '${pod}' $p/cgroup 2>/dev/null && ${isOneOf[containers]} && kill -9 \${p#/proc/}`;
    await onNode(spec.nodeName, 'sh', '-c', `for p in /proc/[0-9]*; do ${each}; done; true`);
  }

  async #elect(ordinal: number, leads: boolean): Promise<void> {
    const { cluster } = this.#stage;
    const leader = await this.#stage.leader();
    if ((leader === ordinal) === leads) return;
    const to = leads ? ordinal : (ordinal + 1) % 3;
    const list = await cluster.etcdctl(['member', 'list'], leader);
    const [id] = list
      .split('\n')
      .find((line) => line.includes(` ${cluster.pod(to)},`))!
      .split(',');
    await cluster.etcdctl(['move-leader', id!], leader);
  }
}
