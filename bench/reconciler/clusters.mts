import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chart, Testing } from 'cdk8s';
import { parse } from 'yaml';
import { claimAnnotations } from '../../agent/src/controllers/kubernetes/pod.ts';
import type { EtcdClusterObject } from '../../agent/src/controllers/objects/cluster-object.ts';
import type { ApiClient } from '../../agent/src/kube/api-client.ts';
import { isStatus, unlessMissing } from '../../agent/src/kube/api-error.ts';
import type { KubeObject, StatefulSetObject } from '../../agent/src/kube/objects.ts';
import { Paths } from '../../agent/src/kube/paths.ts';
import type { RecordDoc } from '../../agent/src/protocol/record.ts';
import library from '../../lib/src/index.js';
import { addressOf, clusterIdOf, type Member, memberIdOf, volumeIdOf } from './member.mts';

// biome-ignore lint/suspicious/noExplicitAny: parts of manifests
type Manifest = any;

const size = 3;
const ordinals = [...Array(size).keys()];
const revision = 'revision-1';
const clusterUidOf = (cluster: string) => `uid-of-${cluster}`;
/** These pods are never scheduled. */
const schedulerName = 'nobody';
const writers = 16;

export async function applyCrds(client: ApiClient): Promise<void> {
  for (const resource of ['etcdbackups', 'etcdclusters', 'etcdrestores', 'etcdusers']) {
    const file = join(import.meta.dirname, `../../crds/${resource}.yaml`);
    const crd = parse(await readFile(file, 'utf8')) as KubeObject;
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    if (!(await client.get(`${path}/${crd.metadata.name}`).catch(unlessMissing))) await client.create(path, crd);
    const served = new Paths('default').of(resource as 'etcdclusters');
    while (!(await client.list(served).catch(unlessMissing))) await sleep(200);
  }
}

/** Clusters in their desired state, as the constructs and the reconciler leave them, in a separate namespace. */
export class Clusters {
  readonly names: readonly string[];
  readonly namespace: string;
  readonly paths: Paths;
  readonly #client: ApiClient;
  /** Kubernetes' controllers create claims and pods. */
  readonly #controllers: boolean;
  readonly #manifests: string;

  constructor(client: ApiClient, namespace: string, count: number, controllers: boolean) {
    this.#client = client;
    this.namespace = namespace;
    this.paths = new Paths(namespace);
    this.#controllers = controllers;
    this.names = Array.from({ length: count }, (_, index) => `c${`${index}`.padStart(4, '0')}`);
    const chart = new Chart(Testing.app(), 'bench', { namespace });
    // The simulated members have no certificates: the cost of TLS is not measured.
    new library.EtcdCluster(chart, 'template', { name: template, size, tls: library.EtcdTls.none() });
    this.#manifests = JSON.stringify(Testing.synth(chart));
  }

  /** Its simulated members. */
  async create(): Promise<readonly Member[]> {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.namespace } };
    await this.#client.create('/api/v1/namespaces', body);
    return (await inParallel(this.names, (name) => this.#cluster(name))).flat();
  }

  /** With controllers, nothing is left afterwards. */
  async delete(): Promise<void> {
    await this.#client.remove(this.paths.namespace, {});
    const begun = performance.now();
    while (this.#controllers && (await this.#client.get(this.paths.namespace).catch(unlessMissing))) {
      if (performance.now() - begun > 600_000) throw new Error(`namespace ${this.namespace} is not gone in 10 minutes`);
      await sleep(1_000);
    }
  }

  /** Those whose status says Ready. */
  async ready(): Promise<number> {
    const { items } = await this.#client.list<EtcdClusterObject>(this.paths.of('etcdclusters'));
    return items.filter(isReady).length;
  }

  async isReady(name: string): Promise<boolean> {
    return isReady(await this.#client.get<EtcdClusterObject>(this.paths.of('etcdclusters', name)));
  }

  async setPaused(name: string, paused: boolean): Promise<void> {
    await this.#client.merge(this.paths.of('etcdclusters', name), { spec: { paused } });
  }

  async deletePod(name: string, ordinal: number): Promise<void> {
    const path = this.paths.of('pods', `${name}-${ordinal}`);
    await this.#client.remove(path, {});
  }

  /** Recreates the pod like the StatefulSet, after a deletion. */
  async makePod(name: string, ordinal: number): Promise<Member> {
    const found = await this.#client.get<StatefulSetObject>(this.paths.of('statefulsets', name));
    return this.#pod(name, ordinal, found);
  }

  async #cluster(name: string): Promise<readonly Member[]> {
    const manifests: Manifest[] = JSON.parse(this.#manifests.replaceAll(template, name));
    const ofKind = (kind: string) => manifests.find((manifest) => manifest.kind === kind);
    await this.#client.create(this.paths.of('configmaps'), record(name, ofKind('EtcdCluster').spec.version));
    if (this.#controllers) {
      const accounts = `${this.paths.namespace}/serviceaccounts`;
      for (const manifest of manifests.filter(({ kind }) => kind === 'ServiceAccount')) {
        // All clusters share the reconciler's.
        await this.#client.create(accounts, manifest).catch((error: unknown) => {
          if (!isStatus(error, 409)) throw error;
        });
      }
    }
    const given = ofKind('StatefulSet');
    given.spec.replicas = size;
    given.spec.template.spec.schedulerName = schedulerName;
    const made = await this.#client.create<KubeObject>(this.paths.of('statefulsets'), {
      ...given,
      metadata: firstOf(given),
    });
    const statefulSet = { ...given, ...made };
    if (!this.#controllers) await this.#statefulSetStatus(statefulSet);
    const members = await Promise.all(
      ordinals.map(async (ordinal) => {
        await this.#claim(statefulSet, ordinal);
        return this.#pod(name, ordinal, statefulSet);
      }),
    );
    const cluster = ofKind('EtcdCluster');
    await this.#client.create(this.paths.of('etcdclusters'), { ...cluster, metadata: firstOf(cluster) });
    return members;
  }

  #statefulSetStatus({ metadata }: StatefulSetObject): Promise<unknown> {
    const status = {
      observedGeneration: metadata.generation ?? 1,
      updateRevision: revision,
      currentRevision: revision,
    };
    const counts = { replicas: size, readyReplicas: size, availableReplicas: size, updatedReplicas: size };
    const path = this.paths.of('statefulsets', metadata.name, 'status');
    return this.#client.merge(path, { status: { ...status, ...counts } });
  }

  async #claim({ metadata, spec }: Manifest, ordinal: number): Promise<void> {
    const name = `data-${metadata.name}-${ordinal}`;
    const annotations = claimAnnotations(clusterUidOf(metadata.name), 1);
    if (this.#controllers) {
      await this.#made('persistentvolumeclaims', name);
      await this.#client.merge(this.paths.of('persistentvolumeclaims', name), { metadata: { annotations } });
      return;
    }
    const [claim] = spec.volumeClaimTemplates;
    await this.#client.create(this.paths.of('persistentvolumeclaims'), {
      ...claim,
      metadata: { name, labels: spec.selector.matchLabels, annotations },
    });
  }

  async #pod(cluster: string, ordinal: number, { metadata, spec }: Manifest): Promise<Member> {
    const name = `${cluster}-${ordinal}`;
    const pod = this.#controllers
      ? await this.#made('pods', name)
      : await this.#client.create<KubeObject>(this.paths.of('pods'), podOf(name, metadata, spec.template));
    const address = addressOf(cluster, ordinal);
    const status = podStatus(address, spec.template.spec);
    await this.#client.merge(this.paths.of('pods', name, 'status'), { status });
    const { env } = spec.template.spec.initContainers.find((container: Manifest) => container.name === 'gate');
    const version = env.find((variable: Manifest) => variable.name === 'ETCD_VERSION').value;
    const { uid: podUid } = pod.metadata;
    const clusterUid = clusterUidOf(cluster);
    return { address, cluster, namespace: this.namespace, ordinal, size, version, podUid, clusterUid };
  }

  /** By a controller, when it gets to it. */
  async #made(resource: 'pods' | 'persistentvolumeclaims', name: string): Promise<KubeObject> {
    for (;;) {
      const found = await this.#client.get<KubeObject>(this.paths.of(resource, name)).catch(unlessMissing);
      if (found && found.metadata.deletionTimestamp === undefined) return found;
      await sleep(1_000);
    }
  }
}

const template = 'c9999';

const isReady = ({ status, metadata }: EtcdClusterObject): boolean =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True' &&
  (status.observedGeneration ?? metadata.generation) === metadata.generation;

/** Fields that a real API server sets. */
const firstOf = ({ metadata }: Manifest) => ({ ...metadata, generation: 1 });

export async function inParallel<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = all.entries();
  const worker = async () => {
    for (const [index, one] of left) results[index] = await work(one);
  };
  await Promise.all(Array.from({ length: writers }, worker));
  return results;
}

function record(cluster: string, version: string): object {
  const minor = version.split('.').slice(0, 2).join('.');
  const members = ordinals.map((ordinal) => {
    const memberId = memberIdOf(cluster, ordinal);
    return [ordinal, { memberId, volumeId: volumeIdOf(cluster, ordinal), epoch: 1, everVoter: true }] as const;
  });
  const doc: RecordDoc = {
    ...{ v: 1, rev: 10, clusterUid: clusterUidOf(cluster), epoch: 1, minEpoch: 0, token: 'token', phase: 'Running' },
    ...{ seeded: true, clusterId: clusterIdOf(cluster), permits: {}, tombstones: [], restores: [] },
    members: Object.fromEntries(members),
    versions: { current: minor, allowedMinors: [minor], bornOn: version, finalizedIndex: 0 },
  };
  const metadata = { name: `${cluster}-record`, labels: { 'app.kubernetes.io/instance': cluster } };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'record.json': JSON.stringify(doc) } };
}

/** A pod as the StatefulSet controller creates it. */
function podOf(name: string, { name: owner, uid }: Manifest, { metadata, spec }: Manifest): object {
  const labels = {
    ...metadata.labels,
    'apps.kubernetes.io/pod-index': name.split('-').at(-1),
    'controller-revision-hash': revision,
    'statefulset.kubernetes.io/pod-name': name,
  };
  const controller = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: owner, uid, controller: true };
  const data = { name: 'data', persistentVolumeClaim: { claimName: `data-${name}` } };
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { ...metadata, name, labels, ownerReferences: [{ ...controller, blockOwnerDeletion: true }] },
    spec: { ...spec, hostname: name, subdomain: `${owner}-peers`, volumes: [...spec.volumes, data] },
  };
}

/** A status as a kubelet reports it. */
function podStatus(podIP: string, { initContainers, containers }: Manifest): object {
  const startedAt = '2026-01-01T00:00:00Z';
  const statusOf = ({ name, image }: Manifest) => ({
    ...{ name, image, imageID: `${image}@sha256:${'0'.repeat(64)}`, containerID: `containerd://${'0'.repeat(64)}` },
    ...{ ready: true, restartCount: 0, started: true, state: { running: { startedAt } } },
  });
  const types = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady'];
  return {
    ...{ phase: 'Running', podIP, podIPs: [{ ip: podIP }], startTime: startedAt, qosClass: 'Burstable' },
    conditions: types.map((type) => ({ type, status: 'True', lastTransitionTime: startedAt })),
    initContainerStatuses: initContainers.map(statusOf),
    containerStatuses: containers.map(statusOf),
  };
}
