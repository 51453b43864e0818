import { join } from 'node:path';
import type { ApiClient } from '../../kube/api-client.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { messageOf } from '../../lib/errors.ts';
import { logErrors } from '../node/etcd-log.ts';
import { API_SERVER_MANIFEST, manifestsIn } from '../node/manifests.ts';
import type { EtcdNode } from '../node/node.ts';
import { apiServerTrouble, apiServerUrl, etcdTrouble, serveTrouble } from '../state/health.ts';
import { httpGet } from '../state/http-get.ts';
import { type Waiting, waitUntilClear } from './wait.ts';

export interface VerifyRequest {
  readonly node: EtcdNode;
  /** The restored cluster, which etcd must serve. Undefined without a restore on this node. */
  readonly clusterId?: string;
  readonly manifestsDir: string;
  /** Undefined without a kubeconfig, as on the machine of an external etcd. */
  readonly client?: ApiClient;
  readonly since: Date;
  /** Glob patterns. */
  readonly logs: readonly string[];
}

export interface VerifyReport {
  readonly components: readonly { readonly name: string; readonly trouble?: string }[];
  readonly nodes: readonly { readonly name: string; readonly ready: boolean }[];
  readonly pods: readonly { readonly name: string; readonly phase: string; readonly ready: boolean }[];
  readonly logs: { readonly files: readonly string[]; readonly errors: readonly string[] };
  /** Problems, one line each. */
  readonly problems: readonly string[];
}

interface Conditions extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

const isTrue = ({ status }: Conditions, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;

/** Waits until there are no problems. A restarted kubelet takes about a minute to report its node and pods again. */
export async function verifyUntilHealthy(request: VerifyRequest, waiting: Waiting): Promise<VerifyReport> {
  let report: VerifyReport | undefined;
  await waitUntilClear(async () => {
    report = await verifyControlPlane(request);
    return report.problems.length > 0 ? report.problems.join('; ') : undefined;
  }, waiting);
  return report!;
}

export async function verifyControlPlane(request: VerifyRequest): Promise<VerifyReport> {
  const components = await componentHealth(request);
  const logs = await logErrors(request.logs, request.since);
  const problems = components.flatMap(({ name, trouble }) => (trouble ? [`${name}: ${trouble}`] : []));
  const { nodes, pods } = await listed(request.client, problems);
  for (const { name, ready } of nodes) if (!ready) problems.push(`node ${name} is not Ready`);
  for (const { name, ready, phase } of pods)
    if (!ready) problems.push(`pod kube-system/${name} is ${phase}, not Ready`);
  return { components, nodes, pods, logs, problems };
}

async function componentHealth({ node, clusterId, manifestsDir }: VerifyRequest): Promise<VerifyReport['components']> {
  const found = await manifestsIn(manifestsDir);
  const checks: [string, () => Promise<string | undefined>][] = [
    ['etcd', () => (clusterId === undefined ? etcdTrouble(node.member) : serveTrouble(node.member, clusterId))],
  ];
  if (found.includes(API_SERVER_MANIFEST)) {
    checks.push([
      'kube-apiserver',
      async () => apiServerTrouble(await apiServerUrl(join(manifestsDir, API_SERVER_MANIFEST))),
    ]);
  }
  for (const [name, port] of [
    ['kube-controller-manager', 10257],
    ['kube-scheduler', 10259],
  ] as const) {
    if (found.includes(`${name}.yaml`)) checks.push([name, () => healthz(port)]);
  }
  return Promise.all(
    checks.map(async ([name, check]) => {
      const trouble = await check();
      return { name, ...(trouble !== undefined && { trouble }) };
    }),
  );
}

async function healthz(port: number): Promise<string | undefined> {
  const answer = await httpGet(`https://127.0.0.1:${port}/healthz`);
  if (!answer) return 'does not answer';
  return answer.status === 200 ? undefined : `answers ${answer.status}`;
}

async function listed(
  client: ApiClient | undefined,
  problems: string[],
): Promise<Pick<VerifyReport, 'nodes' | 'pods'>> {
  if (!client) return { nodes: [], pods: [] };
  try {
    const nodes = await client.list<Conditions>('/api/v1/nodes');
    const pods = await client.list<Conditions>('/api/v1/namespaces/kube-system/pods');
    return {
      nodes: nodes.items.map((node) => ({ name: node.metadata.name, ready: isTrue(node, 'Ready') })),
      pods: pods.items.map((pod) => {
        const phase = pod.status?.phase ?? 'Unknown';
        return { name: pod.metadata.name, phase, ready: phase === 'Succeeded' || isTrue(pod, 'Ready') };
      }),
    };
  } catch (error) {
    problems.push(`the API server cannot be queried: ${messageOf(error)}`);
    return { nodes: [], pods: [] };
  }
}

export function verifyText({ components, nodes, pods, logs, problems }: VerifyReport): string {
  const row = (what: string, name: string, state: string) => `${what.padEnd(10)} ${name.padEnd(44)} ${state}`;
  return [
    ...components.map(({ name, trouble }) => row('component', name, trouble ?? 'healthy')),
    ...nodes.map(({ name, ready }) => row('node', name, ready ? 'Ready' : 'NotReady')),
    ...pods.map(({ name, phase, ready }) => row('pod', name, ready ? phase : `${phase}, not ready`)),
    logs.files.length > 0
      ? `etcd's log since the start: ${logs.errors.length} errors (${logs.files.join(', ')})`
      : "etcd's log was not found; name it with --etcd-log, or check it with journalctl -u etcd -p err",
    ...logs.errors.slice(-20).map((line) => `  ${line}`),
    problems.length > 0 ? `problems:\n${problems.map((line) => `  ${line}`).join('\n')}` : 'no problems',
  ].join('\n');
}
