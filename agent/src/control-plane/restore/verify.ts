import { join } from 'node:path';
import type { ApiClient } from '../../kube/api-client.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { messageOf } from '../../lib/errors.ts';
import { certificatesCommand } from '../node/certificates/kubeadm-certificates.ts';
import { flagsOfArguments } from '../node/etcd-flags.ts';
import { logErrors } from '../node/etcd-log.ts';
import { API_SERVER_MANIFEST, manifestsIn } from '../node/manifests.ts';
import type { EtcdNode } from '../node/node.ts';
import { readStaticPod } from '../node/static-pod.ts';
import { apiServerOf, apiServerTrouble, etcdTrouble, reachable, serveTrouble, unservedNames } from '../state/health.ts';
import { httpGet } from '../state/http-get.ts';
import type { Prepared } from './prepare.ts';
import { type WaitOptions, waitUntilClear } from './wait.ts';

export interface VerifyRequest {
  readonly node: EtcdNode;
  /** The restored cluster, which etcd must serve, and its first revision. Undefined without a restore on this node. */
  readonly restored?: Restored;
  readonly manifestsDir: string;
  /** Undefined without a kubeconfig, as on the machine of an external etcd. */
  readonly client?: ApiClient;
  /** What is wrong without one, if there is an API server. */
  readonly noClient?: string;
  readonly since: Date;
  /** Glob patterns. */
  readonly logs: readonly string[];
}

export type Restored = Pick<Prepared, 'clusterId' | 'revision'>;

export interface VerifyReport {
  readonly components: readonly { readonly name: string; readonly trouble?: string }[];
  readonly nodes: readonly { readonly name: string; readonly ready: boolean; readonly trouble?: string }[];
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

/** A kubelet that has reported its node reports every pod within 10 s. Until then the API has the pods of the snapshot. */
const SETTLE = 15_000;

/**
 * Waits until there are no problems, and there have been none for `settle` milliseconds. A restarted kubelet takes about a minute
 * to report its node and pods again.
 */
export async function verifyUntilHealthy(
  request: VerifyRequest,
  waiting: WaitOptions,
  settle: number = request.restored ? SETTLE : 0,
): Promise<VerifyReport> {
  let report: VerifyReport | undefined;
  let clearSince: number | undefined;
  const check = async () => {
    report = await verifyControlPlane(request);
    if (report.problems.length > 0) {
      clearSince = undefined;
      return report.problems.join('; ');
    }
    clearSince ??= performance.now();
    return performance.now() < clearSince + settle
      ? 'no problems; kubelets may still report pods that are not ready'
      : undefined;
  };
  const left = await waitUntilClear(check, waiting);
  if (left !== undefined && clearSince !== undefined) await waitUntilClear(check, { ...waiting, limit: settle });
  return report!;
}

export async function verifyControlPlane(request: VerifyRequest): Promise<VerifyReport> {
  const components = await componentHealth(request);
  const logs = await logErrors(request.logs, request.since);
  const problems = components.flatMap(({ name, trouble }) => (trouble ? [`${name}: ${trouble}`] : []));
  const { nodes, pods } = await listed(request, problems);
  for (const { name, trouble } of nodes) if (trouble !== undefined) problems.push(`node ${name} ${trouble}`);
  for (const { name, ready, phase } of pods)
    if (!ready) problems.push(`pod kube-system/${name} is ${phase}, not Ready`);
  return { components, nodes, pods, logs, problems };
}

async function componentHealth({ node, restored, manifestsDir }: VerifyRequest): Promise<VerifyReport['components']> {
  const found = await manifestsIn(manifestsDir);
  const checks: [string, () => Promise<string | undefined>][] = [
    ['etcd', () => (restored ? serveTrouble(node.member, restored.clusterId) : etcdTrouble(node.member))],
  ];
  if (found.includes(API_SERVER_MANIFEST)) {
    checks.push(['kube-apiserver', () => serverTrouble(manifestsDir)]);
  }
  for (const [name, port] of [
    ['kube-controller-manager', '10257'],
    ['kube-scheduler', '10259'],
  ] as const) {
    if (found.includes(`${name}.yaml`))
      checks.push([name, async () => healthz(await healthUrl(manifestsDir, name, port))]);
  }
  return Promise.all(
    checks.map(async ([name, check]) => {
      const trouble = await check();
      return { name, trouble };
    }),
  );
}

/** Such a pod runs never again. What has evicted it, or its Job, has started another one. */
const hasEnded = (phase: string): boolean => phase === 'Succeeded' || phase === 'Failed';

async function serverTrouble(manifestsDir: string): Promise<string | undefined> {
  const server = await apiServerOf(join(manifestsDir, API_SERVER_MANIFEST));
  const trouble = await apiServerTrouble(server);
  if (trouble !== undefined) return trouble;
  const wrong = await unservedNames(server);
  if (wrong.length === 0) return undefined;
  const create = await certificatesCommand(manifestsDir, 'apiserver');
  return `its certificate is not valid for ${wrong.join(' and ')}; move apiserver.crt and apiserver.key away, then: ${create}, with all further names that clients use, and restart the API server`;
}

async function healthz(url: string | undefined): Promise<string | undefined> {
  if (url === undefined) return undefined;
  const answer = await httpGet(url);
  if (!answer) return `does not answer at ${url}`;
  return answer.status === 200 ? undefined : `answers ${answer.status} at ${url}`;
}

/** Where a component answers, by its manifest. Undefined if it listens nowhere. */
export async function healthUrl(manifestsDir: string, name: string, port: string): Promise<string | undefined> {
  const pod = await readStaticPod(join(manifestsDir, `${name}.yaml`), name).catch(() => undefined);
  const flags = flagsOfArguments(pod?.args ?? []);
  const { 'bind-address': host = '0.0.0.0', 'secure-port': given = port } = flags;
  if (given === '0') return undefined;
  return reachable(`https://${host.includes(':') ? `[${host}]` : host}:${given}/healthz`);
}

async function listed(
  { client, noClient, restored, manifestsDir }: VerifyRequest,
  problems: string[],
): Promise<Pick<VerifyReport, 'nodes' | 'pods'>> {
  const manifests = await manifestsIn(manifestsDir);
  if (!client) {
    if (noClient !== undefined && manifests.includes(API_SERVER_MANIFEST)) problems.push(noClient);
    return { nodes: [], pods: [] };
  }
  try {
    const nodes = await client.list<Conditions>('/api/v1/nodes');
    const pods = await client.list<Conditions>('/api/v1/namespaces/kube-system/pods');
    const leases = restored ? await leasesIn(client, 'kube-node-lease') : [];
    if (restored) problems.push(...(await leaderless(client, restored, manifestsDir, manifests)));
    return {
      nodes: nodes.items.map((node) => {
        const trouble = nodeTrouble(node, leases, restored);
        const { name } = node.metadata;
        return trouble === undefined ? { name, ready: true } : { name, ready: false, trouble };
      }),
      pods: pods.items.map((pod) => {
        const phase = pod.status?.phase ?? 'Unknown';
        return { name: pod.metadata.name, phase, ready: hasEnded(phase) || isTrue(pod, 'Ready') };
      }),
    };
  } catch (error) {
    problems.push(`the API server cannot be queried: ${messageOf(error)}`);
    return { nodes: [], pods: [] };
  }
}

const leasesIn = async (client: ApiClient, namespace: string): Promise<KubeObject[]> =>
  (await client.list<KubeObject>(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`)).items;

/** Objects of the snapshot keep their resourceVersion, which is the revision of their last change. No clock is compared. */
const isSince = ({ metadata }: KubeObject, { revision }: Restored): boolean =>
  Number(metadata.resourceVersion) > revision;

/** A kubelet renews its Lease and reports the status of its node. Others write to the node too. */
function nodeTrouble(node: Conditions, leases: readonly KubeObject[], restored?: Restored): string | undefined {
  const own = [node, ...leases.filter(({ metadata }) => metadata.name === node.metadata.name)];
  if (restored && !own.every((each) => isSince(each, restored))) {
    return 'has not reported since the restore: start it, and restart its kubelet (systemctl restart kubelet); if it no longer exists, delete the Node';
  }
  return isTrue(node, 'Ready') ? undefined : 'is not Ready';
}

async function leaderless(
  client: ApiClient,
  restored: Restored,
  manifestsDir: string,
  manifests: readonly string[],
): Promise<string[]> {
  const leases = await leasesIn(client, 'kube-system');
  const problems: string[] = [];
  for (const name of ['kube-controller-manager', 'kube-scheduler']) {
    if (!manifests.includes(`${name}.yaml`)) continue;
    const { args } = await readStaticPod(join(manifestsDir, `${name}.yaml`), name);
    if (flagsOfArguments(args)['leader-elect'] === 'false') continue;
    const lease = leases.find(({ metadata }) => metadata.name === name);
    if (lease && isSince(lease, restored)) continue;
    const why = lease ? 'its Lease is that of the snapshot' : 'it has no Lease';
    problems.push(`${name} has had no leader since the restore: ${why}`);
  }
  return problems;
}
