import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Cluster, Pod } from '../../src/controllers/port/observed.ts';
import type {
  Clusters,
  Jobs,
  Maintenance,
  Membership,
  Port,
  RecordStore,
  Workload,
} from '../../src/controllers/port/port.ts';
import type { AgentStatus } from '../../src/protocol/agent-status.ts';
import type { ClusterStatus } from '../../src/protocol/cluster-status.ts';
import { known } from '../../src/protocol/known.ts';
import type { Scheme, Schemes } from '../../src/protocol/record.ts';
import { get } from './get.ts';
import {
  type ClaimObject,
  type ClusterObject,
  clusterOf,
  type PodObject,
  podOf,
  podsOf,
  type RestoreObject,
  type StatefulSetObject,
  statefulSetOf,
  type Template,
  type WorldFile,
} from './objects.ts';
import { RecordFile } from './record-file.ts';
import { Conflict, type FileStore } from './store.ts';

/** The reconciler's port for local processes: the API consists of files, etcd is real. */
export class LocalPort implements Port {
  readonly records: RecordStore;
  readonly clusters: Clusters;
  readonly workload: Workload;
  readonly jobs: Jobs;
  readonly membership: Membership;
  readonly maintenance: Maintenance;

  constructor(
    store: FileStore,
    world: WorldFile,
    etcd: Membership & Maintenance,
    jobs: Jobs,
    transports: Transports = new Map(),
  ) {
    this.records = reachable(store, new RecordFile(store));
    this.clusters = reachable(store, clusters(store, world));
    this.workload = reachable(store, workload(store, world, transports), ['agent']);
    this.jobs = reachable(store, jobs);
    this.membership = etcd;
    this.maintenance = etcd;
  }
}

/** Every API call fails while the server does not answer. */
function reachable<T extends object>(store: FileStore, part: T, besides: readonly string[] = []): T {
  return new Proxy(part, {
    get: (target, name) => {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function' || besides.includes(String(name))) return value;
      return async (...args: unknown[]) => {
        if (store.unreachable) throw new Error('the API server does not answer');
        return value.apply(target, args);
      };
    },
  });
}

export const schemeOf = (tls: unknown): Scheme => (tls ? 'https' : 'http');
export const peerUrlOf = (world: WorldFile, ordinal: number, scheme = schemeOf(world.tls)): string =>
  `${scheme}://127.0.0.1:${world.ports[ordinal]!.peer}`;
export const clientUrlOf = (world: WorldFile, ordinal: number, scheme = schemeOf(world.tls)): string =>
  `${scheme}://127.0.0.1:${world.ports[ordinal]!.client}`;
/** URL that a backup asks. */
export const backupUrlOf = (world: WorldFile, ordinal: number): string =>
  world.users ? `https://127.0.0.1:${world.users.ports[ordinal]!}` : clientUrlOf(world, ordinal);
export const agentUrlOf = (world: WorldFile, ordinal: number, path: string, scheme = schemeOf(world.tls)): string =>
  `${scheme}://127.0.0.1:${world.ports[ordinal]!.agent}${path}`;

/** The schemes that agents have reported, by the uid of the pod. */
export type Transports = Map<string, Schemes>;

/** Client URLs of etcd in all pods, each by the scheme that it serves. */
export function clientUrls(store: FileStore, world: WorldFile, transports: Transports): string[] {
  const isWanted = clusterOf(store)?.spec.tls === true;
  const isSafe = ({ uid, template }: PodObject & { uid: string }) =>
    isWanted && template.tls === true && transports.get(uid)?.clients !== 'http';
  return podsOf(store).map((pod) => clientUrlOf(world, pod.ordinal, schemeOf(isSafe(pod))));
}

const revisionOf = (template: Template): string =>
  createHash('sha256').update(JSON.stringify(template)).digest('hex').slice(0, 10);

const clusters = (store: FileStore, world: WorldFile): Clusters => ({
  cluster: async () => clusterSeen(store, world),
  restores: async () => store.list<RestoreObject>('restores'),
  setFinalizer: async (basedOn) => {
    store.update<ClusterObject>('cluster', basedOn, (old) => ({ ...old, finalizer: true }));
  },
  releaseFinalizer: async (basedOn) => {
    const { uid, deleting } = store.update<ClusterObject>('cluster', basedOn, (old) => ({ ...old, finalizer: false }));
    if (deleting) store.remove('cluster', uid);
  },
  reportStatus: async (status: ClusterStatus) => {
    store.update<ClusterObject>('cluster', undefined, (old) => ({ ...old, status }));
  },
  reportRestore: async ({ name, uid, phase, reason, message }) => {
    store.update<RestoreObject>(`restores/${name}`, undefined, (old) => {
      if (old.uid !== uid) throw new Conflict(`restore ${name} is another one`);
      return { ...old, phase, report: { reason, message } };
    });
  },
});

function clusterSeen(store: FileStore, world: WorldFile): Cluster | undefined {
  const object = clusterOf(store);
  if (!object) return undefined;
  const peerUrls = world.ports.map((_, ordinal) => peerUrlOf(world, ordinal));
  return { ...object, domain: 'cluster.local', reconcilerGoing: false, peerUrls };
}

function annotateTemplate(store: FileStore, basedOn: string, change: Partial<Template>): void {
  store.update<StatefulSetObject>('stateful-set', basedOn, (old) => ({
    ...old,
    template: { ...old.template, ...change },
  }));
}

const workload = (store: FileStore, world: WorldFile, transports: Transports): Workload => ({
  statefulSet: async () => {
    const set = statefulSetOf(store);
    if (!set) return undefined;
    const { replicas, rv, template } = set;
    const updateRevision = revisionOf(template);
    const { epoch: minEpoch, version, roots, tls } = template;
    const tlsSecrets = tls ? { peer: 'peer', server: 'server' } : {};
    return { replicas, rv, updateRevision, observed: true, minEpoch, version, tlsSecrets, ...(roots && { roots }) };
  },
  pods: async () =>
    podsOf(store).map(({ ordinal, uid, template, running, ready, deleting }) => {
      const resolves = known(running);
      return { ordinal, uid, revision: revisionOf(template), running, began: running, ready, deleting, resolves };
    }),
  claims: async () => store.list<ClaimObject>('claims'),
  agent: async ({ ordinal, uid }: Pod) => {
    const ca = world.tls && (await readFile(world.tls.ca));
    const url = agentUrlOf(world, ordinal, '/status', schemeOf(podOf(store, ordinal)?.template.tls));
    const { status, body } = await get(url, ca, 2_000);
    if (status !== 200) throw new Error(`the agent of pod ${ordinal} answers ${status}`);
    const answer: AgentStatus = JSON.parse(body);
    if (answer.transport && answer.podUid === uid) transports.set(uid, answer.transport);
    return answer;
  },
  scale: async (replicas, basedOn) => {
    store.update<StatefulSetObject>('stateful-set', basedOn, (old) => ({ ...old, replicas }));
  },
  annotateEpoch: async (epoch, basedOn) => annotateTemplate(store, basedOn, { epoch }),
  annotateRoots: async (roots, basedOn) => annotateTemplate(store, basedOn, { roots }),
  annotateClaim: async ({ ordinal, uid, clusterUid, epoch, basedOn }) => {
    const name = `claims/${ordinal}`;
    store.update<ClaimObject>(name, basedOn, (old) => sameUid(old, uid, { ...old, clusterUid, epoch }));
  },
  deletePod: async (ordinal, uid) => {
    store.update<PodObject>(`pods/${ordinal}`, undefined, (old) => sameUid(old, uid, { ...old, deleting: true }));
  },
  // Nodes are never drained here.
  evictPod: async (ordinal, uid) => {
    store.update<PodObject>(`pods/${ordinal}`, undefined, (old) => sameUid(old, uid, { ...old, deleting: true }));
  },
  deleteClaim: async ({ ordinal, uid, basedOn }) => {
    store.update<ClaimObject>(`claims/${ordinal}`, basedOn, (old) => sameUid(old, uid, { ...old, deleting: true }));
  },
});

function sameUid<T>(old: { uid: string }, uid: string, changed: T): T {
  if (old.uid !== uid) throw new Conflict('it is another one');
  return changed;
}
