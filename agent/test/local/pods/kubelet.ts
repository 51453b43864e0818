import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { get } from '../get.ts';
import {
  type ClaimObject,
  claimOf,
  clusterOf,
  type PodObject,
  podOf,
  podsOf,
  statefulSetOf,
  type WorldFile,
} from '../objects.ts';
import { agentUrlOf, schemeOf } from '../port.ts';
import { Conflict, type FileStore, type Stored } from '../store.ts';
import { LocalPod } from './pod.ts';

const every = 100;
const probeEvery = 300;
/** How long the API believes a silent kubelet. Kubernetes waits 40 s (node-monitor-grace-period). */
const graceOfNode = 2_000;

/** StatefulSet controller, volume binder and the kubelets of all nodes. Each ordinal has its own node. */
export class Kubelet {
  readonly #pods = new Map<number, LocalPod>();
  readonly #ending = new Set<number>();
  /** Ordinals of nodes that are switched off, and since when (ms). */
  readonly #off = new Map<number, number>();
  readonly #probed = new Map<number, number>();
  readonly #store: FileStore;
  readonly #dir: string;
  readonly #world: WorldFile;
  readonly #volumeRoot: (ordinal: number) => string;
  #timer: NodeJS.Timeout | undefined;

  constructor(dir: string, store: FileStore, world: WorldFile, volumeRoot: (ordinal: number) => string) {
    this.#dir = dir;
    this.#store = store;
    this.#world = world;
    this.#volumeRoot = volumeRoot;
  }

  start(also: () => void): void {
    this.#timer = setInterval(() => {
      try {
        this.#tick();
        also();
      } catch (error) {
        // Another process was faster: the next pass sees it.
        if (!(error instanceof Conflict)) throw error;
      }
    }, every);
  }

  /** Kills everything. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#pods.values()].map((pod) => pod.stop(false)));
    this.#pods.clear();
  }

  pod(ordinal: number): LocalPod {
    const pod = this.#pods.get(ordinal);
    if (!pod) throw new Error(`pod ${ordinal} does not run`);
    return pod;
  }

  /** Directory of the current claim; for an ephemeral cluster, of the pod. */
  volume(ordinal: number): string {
    const pod = podOf(this.#store, ordinal);
    const uid = pod?.claim ?? claimOf(this.#store, ordinal)?.uid;
    if (uid === undefined) throw new Error(`ordinal ${ordinal} has no volume`);
    return this.#volumeOf(ordinal, uid);
  }

  /** Kills the pod's processes and does the work before they, or those of the next pod, start. */
  async kill(ordinal: number, work: () => void = () => {}): Promise<void> {
    this.#ending.add(ordinal);
    try {
      await this.#pods.get(ordinal)?.stop(false);
      this.#pods.delete(ordinal);
      work();
    } finally {
      this.#ending.delete(ordinal);
    }
  }

  async off(ordinal: number): Promise<void> {
    this.#off.set(ordinal, Date.now());
    await this.kill(ordinal);
  }

  on(ordinal: number): void {
    this.#off.delete(ordinal);
  }

  #volumeOf(ordinal: number, uid: string): string {
    return join(this.#volumeRoot(ordinal), uid);
  }

  #tick(): void {
    if (!this.#store.unreachable) this.#control();
    for (const pod of podsOf(this.#store)) {
      const since = this.#off.get(pod.ordinal);
      if (since === undefined) this.#run(pod);
      else if (Date.now() - since > graceOfNode) this.#missNode(pod);
    }
    for (const [ordinal, pod] of this.#pods) {
      if (podOf(this.#store, ordinal)?.uid !== pod.uid && !this.#ending.has(ordinal)) void this.kill(ordinal);
    }
  }

  /** Acts like the node lifecycle controller, which is all that says so of a pod whose kubelet is silent. */
  #missNode(pod: Stored<PodObject>): void {
    if (pod.ready && !this.#store.unreachable) this.#change(pod, { ready: false });
  }

  /** Acts like the StatefulSet controller with OnDelete and Parallel. */
  #control(): void {
    const set = statefulSetOf(this.#store);
    for (const [ordinal] of this.#world.ports.entries()) {
      const pod = podOf(this.#store, ordinal);
      const claim = claimOf(this.#store, ordinal);
      if (claim?.deleting && !pod?.running) this.#releaseClaim(claim);
      else if (pod?.claim !== undefined && !claim) this.#change(pod, { claim: this.#createClaim(ordinal).uid });
      else if (!pod && set && ordinal < set.replicas) this.#createPod(ordinal, claim);
      else if (pod && !pod.deleting && ordinal >= (set?.replicas ?? 0)) this.#change(pod, { deleting: true });
    }
  }

  #createPod(ordinal: number, claim: Stored<ClaimObject> | undefined): void {
    const template = statefulSetOf(this.#store)!.template;
    const ephemeral = clusterOf(this.#store)?.spec.ephemeral === true;
    const bound = ephemeral ? undefined : (claim ?? this.#createClaim(ordinal));
    const pod = { ordinal, template, running: false, ready: false, deleting: false, claim: bound?.uid };
    this.#store.create<PodObject>(`pods/${ordinal}`, pod);
  }

  #createClaim(ordinal: number): Stored<ClaimObject> {
    const claim = this.#store.create<ClaimObject>(`claims/${ordinal}`, { ordinal, deleting: false });
    mkdirSync(this.#volumeOf(ordinal, claim.uid), { recursive: true });
    return claim;
  }

  #releaseClaim({ ordinal, uid }: Stored<ClaimObject>): void {
    this.#store.remove(`claims/${ordinal}`, uid);
    rmSync(this.#volumeOf(ordinal, uid), { recursive: true, force: true });
  }

  #run(object: Stored<PodObject>): void {
    const { ordinal, uid } = object;
    if (this.#ending.has(ordinal)) return;
    const pod = this.#pods.get(ordinal);
    if (object.deleting) void this.#terminate(object, pod);
    else if (!pod) this.#begin(object);
    else if (pod.uid === uid) void this.#probe(object);
  }

  #begin(object: Stored<PodObject>): void {
    const { ordinal, uid, template, claim } = object;
    const volume = this.#volumeOf(ordinal, claim ?? uid);
    // The node of the volume is lost: the pod stays Pending.
    if (claim !== undefined && !existsSync(volume)) return;
    const pod = new LocalPod({ dir: this.#dir, world: this.#world, ordinal, uid, template, volume });
    this.#pods.set(ordinal, pod);
    pod.start();
    if (!this.#store.unreachable) this.#change(object, { running: true, ready: false });
  }

  async #terminate(object: Stored<PodObject>, pod: LocalPod | undefined): Promise<void> {
    const { ordinal, uid, claim } = object;
    this.#ending.add(ordinal);
    await pod?.stop(true);
    this.#pods.delete(ordinal);
    this.#ending.delete(ordinal);
    if (podOf(this.#store, ordinal)?.uid === uid) this.#store.remove(`pods/${ordinal}`, uid);
    if (claim === undefined) rmSync(this.#volumeOf(ordinal, uid), { recursive: true, force: true });
  }

  async #probe(object: Stored<PodObject>): Promise<void> {
    const { ordinal, uid } = object;
    const last = this.#probed.get(ordinal) ?? 0;
    if (Date.now() - last < probeEvery || this.#store.unreachable) return;
    this.#probed.set(ordinal, Date.now());
    const ca = this.#world.tls && readFileSync(this.#world.tls.ca);
    const url = agentUrlOf(this.#world, ordinal, '/readyz', schemeOf(object.template.tls));
    const answer = await get(url, ca, 2_000).catch(() => undefined);
    const ready = answer?.status === 200;
    const now = podOf(this.#store, ordinal);
    if (now?.uid === uid && (now.ready !== ready || !now.running)) this.#change(now, { ready, running: true });
  }

  #change({ ordinal, uid }: Stored<PodObject>, change: Partial<PodObject>): void {
    if (podOf(this.#store, ordinal)?.uid !== uid) return;
    this.#store.update<PodObject>(`pods/${ordinal}`, undefined, (old) => ({ ...old, ...change }));
  }
}
