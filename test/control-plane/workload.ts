import { setTimeout as sleep } from 'node:timers/promises';
import { kubectl } from '../e2e/support/kubectl';
import { container, podSpec } from '../e2e/support/manifests';
import { nodes } from '../e2e/support/node-driver';
import type { Manifest } from '../synth';
import { onNode } from './nodes';

const image = 'docker.io/library/busybox:1.35';

/** Deployments whose processes can be told from all others on a node: each sleeps for a time of its own. */
const sleeps = { ordinary: 31_000_001, later: 31_000_002, 'deleted-later': 31_000_003 };
type Name = keyof typeof sleeps;

/** A container of a pod, as its kubelet tells of it. */
export interface Running {
  readonly pod: string;
  readonly containerId: string;
  readonly startedAt: string;
}

/** What users of a Kubernetes have in it. */
export class Workload {
  static async create(): Promise<Workload> {
    const name = 'control-plane-work';
    await kubectl(['create', 'namespace', name]);
    const workload = new Workload(name);
    await workload.apply(deployment('ordinary', 3));
    await workload.begin();
    await workload.ready('ordinary');
    return workload;
  }

  private constructor(readonly namespace: string) {}

  /** How it is when a snapshot is taken. */
  async begin(): Promise<void> {
    await this.kubectl('delete', '--ignore-not-found', 'configmap/after', 'deployment/later');
    await this.apply(configMap('before', 'one'), configMap('changed', 'one'), configMap('deleted-later', 'one'));
    await this.apply(deployment('deleted-later', 1));
    await this.ready('deleted-later');
  }

  /** What a restore of a snapshot from before it takes back. */
  async goOn(): Promise<void> {
    await this.apply(configMap('after', 'two'), configMap('changed', 'two'), deployment('later', 2));
    await this.ready('later');
    await this.kubectl('delete', 'configmap/deleted-later', 'deployment/deleted-later');
    await until('the deleted pod to end', async () => (await this.processes('deleted-later')) === 0);
  }

  async apply(...items: readonly Manifest[]): Promise<void> {
    await kubectl(
      ['apply', '-n', this.namespace, '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    );
  }

  async ready(name: Name): Promise<void> {
    await this.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=120s');
  }

  async scale(name: Name, replicas: number): Promise<void> {
    await this.kubectl('scale', `deployment/${name}`, `--replicas=${replicas}`);
    await this.ready(name);
    await until(`${replicas} pods of ${name}`, async () => (await this.running(name)).length === replicas);
  }

  /** By pod. */
  async running(name: Name): Promise<Running[]> {
    const { items } = await this.get('pods', `--selector=app=${name}`);
    const found = items.flatMap(({ metadata, status }: Manifest): Running[] => {
      const [{ containerID, state }] = status.containerStatuses ?? [{ state: {} }];
      if (metadata.deletionTimestamp || !state.running) return [];
      return [{ pod: metadata.name, containerId: containerID, startedAt: state.running.startedAt }];
    });
    return found.sort((a: Running, b: Running) => (a.pod < b.pod ? -1 : 1));
  }

  /** How many run on all nodes, whatever any API server says. */
  async processes(name: Name): Promise<number> {
    const count = `cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -o 'sleep[ ]${sleeps[name]}' | wc -l`;
    const counts = await Promise.all((await nodes()).map(async (node) => Number((await onNode(node, count)).stdout)));
    return counts.reduce((sum, each) => sum + each, 0);
  }

  /** ConfigMaps of ours, name to value. */
  async configMaps(): Promise<Record<string, string>> {
    const { items } = await this.get('configmaps', '--selector=ours');
    return Object.fromEntries(items.map(({ metadata, data }: Manifest) => [metadata.name, data.v ?? '']));
  }

  async deletePod(pod: string): Promise<void> {
    await this.kubectl('delete', 'pod', pod, '--timeout=60s');
  }

  async delete(): Promise<void> {
    await kubectl(['delete', 'namespace', this.namespace, '--timeout=120s']);
  }

  private async get(...args: string[]): Promise<Manifest> {
    return JSON.parse((await this.kubectl('get', '-o', 'json', ...args)).stdout);
  }

  private kubectl(...args: string[]) {
    return kubectl(['-n', this.namespace, ...args]);
  }
}

/** Asks until it is so; what fails is asked again. */
export async function until(what: string, isSo: () => Promise<boolean>, seconds = 120): Promise<void> {
  const deadline = Date.now() + seconds * 1_000;
  for (;;) {
    let reason = '';
    const done = await isSo().catch((error: Error) => {
      reason = error.message;
      return false;
    });
    if (done) return;
    if (Date.now() > deadline) throw new Error(`${what}: not after ${seconds} s ${reason}`);
    await sleep(500);
  }
}

const configMap = (name: string, v: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { ours: 'yes' } },
  data: { v },
});

function deployment(name: Name, replicas: number): Manifest {
  const labels = { app: name };
  const spec = podSpec({ containers: [container('main', image, { command: ['sleep', String(sleeps[name])] })] });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}
