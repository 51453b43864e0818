import { epochAnnotation } from '../../../../src/etcd/annotations.ts';
import { ports } from '../../../../src/etcd/cluster-ports.ts';
import { connectOptions } from '../../etcd/tls.ts';
import { ApiError, isStatus, unlessMissing } from '../../kube/api-error.ts';
import type { KubeObject, PodObject, StatefulSetObject } from '../../kube/objects.ts';
import { creationProblem, inWords, isSilent, podProblem } from '../../kube/pod-problem.ts';
import { messageOf } from '../../lib/errors.ts';
import { getJson } from '../../lib/http/http-get.ts';
import type { AgentStatus } from '../../protocol/agent-status.ts';
import { agentStatusOf } from '../../protocol/agent-status-schema.ts';

import type { Scheme, Schemes } from '../../protocol/record.ts';
import { backupAccess, backupPortName } from '../jobs/backup-access.ts';
import { missingPods, rootsAnnotation, serverVolume, statefulSetOf } from '../objects/stateful-set.ts';
import type { Claim, Pod, StatefulSet } from '../port/observed.ts';
import { NotNow, type Workload } from '../port/port.ts';
import type { ClusterContext } from './cluster-context.ts';
import { PeerNames } from './peer-name.ts';
import { addressOf, claimAnnotations, claimOf, noAddress, ordinalOf, podOf, type VolumeClaim } from './pod.ts';

/** Where a pod is reached. */
interface Address {
  readonly ordinal: number;
  readonly uid: string;
  /** IP address. */
  readonly address: string;
  /** It mounts certificates. While TLS is switched on or off, not every pod does. */
  readonly hasCertificates: boolean;
  /** Its agent serves backups. */
  readonly servesBackups: boolean;
}

/** Where a backup asks a member. */
export interface BackupAddress {
  readonly scheme: Scheme;
  readonly port: number;
}

/** Pods, volume claims and the StatefulSet of one cluster. */
export class KubernetesWorkload implements Workload {
  readonly #context: ClusterContext;
  readonly #names: PeerNames;
  #listing: Promise<readonly Address[]> = Promise.resolve([]);
  #last: readonly Address[] = [];
  /** The schemes that agents have reported, by the uid of the pod. */
  #transports: ReadonlyMap<string, Schemes> = new Map();

  constructor(context: ClusterContext) {
    this.#context = context;
    this.#names = new PeerNames(context.settings.observeRpc / 2);
  }

  async statefulSet(): Promise<StatefulSet | undefined> {
    // `lacks` comes from Events, which no watch covers.
    const canCache = (set: StatefulSet | undefined) => set?.lacks === undefined;
    return this.#context.cache.get('statefulsets', () => this.#statefulSet(), canCache);
  }

  async pods(): Promise<Pod[]> {
    // No watch covers DNS.
    const canCache = (pods: readonly Pod[]) => pods.every(({ resolves }) => resolves.known && resolves.v);
    return this.#context.cache.get('pods', () => this.#pods(), canCache);
  }

  /** Client URLs of etcd in all pods, from the current or the last list of pods. */
  async clientUrls(): Promise<readonly string[]> {
    return (await this.#addresses()).map((pod) =>
      this.#context.urlOf(pod.address, ports.client, this.#schemeOfEtcd(pod)),
    );
  }

  /**
   * Ports for a backup by ordinal. A pod of a template without the port for backups has none until it is restarted, and that may
   * wait for a backup.
   */
  async backupPorts(): Promise<ReadonlyMap<number, BackupAddress>> {
    const { port } = backupAccess(this.#context.cluster?.spec.tls);
    const portOf = (pod: Address): BackupAddress =>
      pod.servesBackups && port === ports.backup
        ? { scheme: 'https', port }
        : { scheme: this.#schemeOfEtcd(pod), port: ports.client };
    return new Map((await this.#addresses()).map((pod) => [pod.ordinal, portOf(pod)]));
  }

  #addresses(): Promise<readonly Address[]> {
    return this.#listing.catch(() => this.#last);
  }

  /** With certificates, etcd listens on https unless TLS is being switched off. */
  #schemeOfEtcd({ uid, hasCertificates }: Address): Scheme {
    const { cluster } = this.#context;
    const isPlain = !hasCertificates || this.#transports.get(uid)?.clients === 'http';
    return isPlain || (cluster !== undefined && !cluster.spec.tls) ? 'http' : 'https';
  }

  async claims(): Promise<Claim[]> {
    return this.#context.cache.get('persistentvolumeclaims', async () => {
      const { client, paths, name } = this.#context;
      const labelSelector = `app.kubernetes.io/name=etcd,app.kubernetes.io/instance=${name}`;
      const { items } = await client.list<VolumeClaim>(paths.of('persistentvolumeclaims'), { labelSelector });
      return items.flatMap((claim) => {
        const ordinal = ordinalOf(claim.metadata.name, `data-${name}`);
        return ordinal === undefined ? [] : [claimOf(claim, ordinal)];
      });
    });
  }

  async agent({ ordinal, uid }: Pod): Promise<AgentStatus> {
    const pod = this.#last.find((each) => each.uid === uid);
    if (pod === undefined) throw new Error(`pod ${this.#context.name}-${ordinal} has no address yet`);
    const { address, hasCertificates } = pod;
    const { settings } = this.#context;
    const url = this.#context.urlOf(address, ports.agent, hasCertificates ? 'https' : 'http');
    const tls = hasCertificates ? await this.#context.tls() : undefined;
    const answer = await getJson<unknown>(`${url}/status`, {
      // A cluster that has given up TLS names no authority: its last pods with certificates are believed as those without.
      ...(tls
        ? connectOptions({ ca: tls.ca, servername: tls.servername, revoked: tls.revoked })
        : { rejectUnauthorized: false }),
      signal: AbortSignal.timeout(settings.observeRpc),
    });
    const status = agentStatusOf(answer);
    if (status.podUid !== uid) {
      const expected = `${this.#context.name}-${ordinal} (uid ${uid})`;
      throw new Error(`pod ${status.pod} (uid ${status.podUid}) answers at ${address}, not ${expected}; trying again`);
    }
    if (status.transport) this.#transports = new Map([...this.#transports, [uid, status.transport]]);
    return status;
  }

  async scale(replicas: number, basedOn: string, setBackFrom?: number): Promise<void> {
    const { client, paths, name } = this.#context;
    const body = { metadata: { resourceVersion: basedOn }, spec: { replicas } };
    await client.merge(paths.of('statefulsets', name, 'scale'), body);
    if (setBackFrom !== undefined) {
      const change = `from ${replicas} to ${setBackFrom}`;
      const message = `Something else changed the number of pods of the StatefulSet ${change}; it was set back to ${replicas}`;
      return this.#context.emitEvent('Warning', 'PodsSetBack', message);
    }
    this.#context.emitEvent(
      'Normal',
      'Scaled',
      `Scaled the StatefulSet to ${replicas} ${replicas === 1 ? 'pod' : 'pods'}`,
    );
  }

  annotateEpoch(epoch: number, basedOn: string): Promise<void> {
    return this.#annotateTemplate({ [epochAnnotation]: `${epoch}` }, basedOn);
  }

  annotateRoots(roots: string, basedOn: string): Promise<void> {
    return this.#annotateTemplate({ [rootsAnnotation]: roots }, basedOn);
  }

  async #annotateTemplate(annotations: Readonly<Record<string, string>>, basedOn: string): Promise<void> {
    const { client, paths, name } = this.#context;
    const metadata = { annotations };
    const body = { metadata: { resourceVersion: basedOn }, spec: { template: { metadata } } };
    await client.merge(paths.of('statefulsets', name), body);
  }

  async annotateClaim(claim: Parameters<Workload['annotateClaim']>[0]): Promise<void> {
    const { client, paths, name } = this.#context;
    const { ordinal, uid, clusterUid, epoch, basedOn } = claim;
    const annotations = claimAnnotations(clusterUid, epoch);
    const body = { metadata: { uid, resourceVersion: basedOn, annotations } };
    await client.merge(paths.of('persistentvolumeclaims', `data-${name}-${ordinal}`), body);
  }

  async deletePod(ordinal: number, uid: string): Promise<void> {
    const { client, paths, name } = this.#context;
    const pod = `${name}-${ordinal}`;
    await client.remove(paths.of('pods', pod), { uid }).catch(unlessMissing);
    this.#context.emitEvent('Normal', 'PodDeleted', `Restarting member ${pod}`);
  }

  async evictPod(ordinal: number, uid: string): Promise<void> {
    const { client, paths, namespace, name } = this.#context;
    const pod = `${name}-${ordinal}`;
    const deleteOptions = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } };
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace }, deleteOptions };
    try {
      await client.create(paths.of('pods', pod, 'eviction'), eviction);
    } catch (error) {
      if (isStatus(error, 404)) return;
      // Any status may refuse: two budgets for a pod give 500, and webhooks choose their own. 409 means that the pod was replaced.
      if (error instanceof ApiError && !isStatus(error, 409))
        throw new NotNow(`pod ${pod} cannot be evicted yet: ${messageOf(error)}`);
      throw error;
    }
    this.#context.emitEvent('Normal', 'PodEvicted', `Restarting member ${pod} by eviction`);
  }

  async deleteClaim({ ordinal, uid, basedOn }: Parameters<Workload['deleteClaim']>[0]): Promise<void> {
    const { client, paths, name } = this.#context;
    const claim = `data-${name}-${ordinal}`;
    const preconditions = { uid, resourceVersion: basedOn };
    await client.remove(paths.of('persistentvolumeclaims', claim), preconditions).catch(unlessMissing);
    this.#context.emitEvent('Normal', 'VolumeClaimDeleted', `Deleted volume claim ${claim}`);
  }

  /** Handles 403: the Role that allows `get` belongs to the cluster's manifests, the one that allows `list` to the reconciler. */
  readonly #undefinedIfMissing = async (error: unknown): Promise<undefined> => {
    if (!isStatus(error, 403)) return unlessMissing(error);
    const { client, paths, name } = this.#context;
    const query = { fieldSelector: `metadata.name=${name}` };
    if ((await client.list<KubeObject>(paths.of('statefulsets'), query)).items.length > 0) throw error;
    return undefined;
  };

  async #statefulSet(): Promise<StatefulSet | undefined> {
    const { client, paths, name, troubles } = this.#context;
    const found = await client.get<StatefulSetObject>(paths.of('statefulsets', name)).catch(this.#undefinedIfMissing);
    this.#context.setTemplate(found?.spec.template);
    if (!found || !missingPods(found)) return found && statefulSetOf(found);
    const events = await troubles.of(found.metadata.uid);
    const pods = [...Array(found.spec.replicas ?? 1).keys()].map((ordinal) => `Pod ${name}-${ordinal} `);
    const [problem] = pods.flatMap((pod) => creationProblem(events, pod) ?? []);
    return { ...statefulSetOf(found), lacks: problem ? { why: inWords(problem) } : {} };
  }

  async #pods(): Promise<Pod[]> {
    const listing = this.#list();
    this.#listing = listing.then((found) => found.flatMap((pod) => this.#addressOf(pod)));
    // addresses() handles a failure.
    this.#listing.catch(() => {});
    const found = await listing;
    this.#last = await this.#listing;
    const uids = new Set(this.#last.map(({ uid }) => uid));
    this.#transports = new Map([...this.#transports].filter(([uid]) => uids.has(uid)));
    const pods = await Promise.all(found.map((pod) => this.#pod(pod)));
    this.#context.setPods(pods);
    return pods;
  }

  async #list(): Promise<readonly PodObject[]> {
    const { client, paths, name } = this.#context;
    const labelSelector = `app.kubernetes.io/instance=${name},app.kubernetes.io/component=member`;
    const { items } = await client.list<PodObject>(paths.of('pods'), { labelSelector });
    return items.filter(({ metadata }) => ordinalOf(metadata.name, name) !== undefined);
  }

  #addressOf(pod: PodObject): Address[] {
    const address = addressOf(pod);
    const { name, uid } = pod.metadata;
    if (address === undefined) return [];
    // The agent is a sidecar, which Kubernetes lists among the init containers.
    const ports = (pod.spec?.initContainers ?? []).flatMap((container) => container.ports ?? []);
    const servesBackups = ports.some((port) => port.name === backupPortName);
    const hasCertificates = pod.spec?.volumes?.some((volume) => volume.name === serverVolume) ?? false;
    return [{ ordinal: ordinalOf(name, this.#context.name)!, uid, address, hasCertificates, servesBackups }];
  }

  async #pod(pod: PodObject): Promise<Pod> {
    const ordinal = ordinalOf(pod.metadata.name, this.#context.name)!;
    const address = addressOf(pod);
    const isNamed = address !== undefined && this.#context.domain !== undefined;
    const resolves = isNamed ? this.#names.resolvesTo(this.#context.peerName(ordinal), address) : noAddress;
    const problem = podProblem(pod, isSilent(pod) ? await this.#context.troubles.of(pod.metadata.uid) : undefined);
    return { ...podOf(pod, ordinal, await resolves), ...(problem && { problem: inWords(problem) }) };
  }
}
