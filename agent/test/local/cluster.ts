import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RestoreRequest } from '../../src/controllers/port/observed.ts';
import type { Certificates } from '../harness/certificates.ts';
import { enableCertificateAuth } from '../harness/etcd-auth.ts';
import { etcdOf } from '../harness/etcd-binaries.ts';
import { JobController } from './jobs/jobs.ts';
import {
  mountCertificates,
  type NewWorld,
  newWorld,
  specOf,
  testEtcdSettings,
  testSettings,
  usersOf,
} from './new-world.ts';
import {
  backupTlsOf,
  type ClusterObject,
  podOf,
  podsOf,
  type RestoreObject,
  type StatefulSetObject,
} from './objects.ts';
import type { Change, LocalClusterOptions } from './options.ts';
import { type Crasher, type CrashPoints, crashesDone, setCrashPoints } from './pods/crash.ts';
import { Kubelet } from './pods/kubelet.ts';
import { agentCommand, type LocalPod } from './pods/pod.ts';
import { backupUrlOf } from './port.ts';
import { ReconcilerProcess } from './reconciler-process.ts';
import { ClusterView } from './view.ts';

export type { LocalClusterOptions } from './options.ts';

/** A cluster of real processes on loopback, with a small stand-in for Kubernetes: files for the API, child processes for pods. */
export class LocalCluster extends ClusterView implements AsyncDisposable {
  /** Directories of the volumes that were lost or wiped on purpose, by claim uid. */
  readonly lostVolumes: string[] = [];
  readonly #certificates: Certificates | undefined;
  readonly #isTemporary: boolean;
  readonly #kubelet: Kubelet;
  readonly #jobs: JobController;
  readonly #reconciler: ReconcilerProcess;

  private constructor(dir: string, { world, certificates }: NewWorld, { dir: given, volumeRoot }: LocalClusterOptions) {
    super(dir, world);
    this.#certificates = certificates;
    this.#isTemporary = given === undefined;
    this.#kubelet = new Kubelet(dir, this.store, world, volumeRoot ?? (() => join(dir, 'volumes')));
    this.#reconciler = new ReconcilerProcess(dir, this.store);
    this.#jobs = new JobController({
      store: this.store,
      dir,
      name: world.name,
      namespace: world.namespace,
      endpoints: () => podsOf(this.store).map(({ ordinal }) => backupUrlOf(world, ordinal)),
      endpointOf: (ordinal) => backupUrlOf(world, ordinal),
      tls: backupTlsOf(world),
      peerTlsDir: world.tls && join(dir, 'tls/peer'),
      hasRoot: world.users !== undefined,
      agent: agentCommand,
    });
  }

  /** Like `kubectl apply` of new manifests: does not wait for the cluster. */
  static async start(options: LocalClusterOptions = {}): Promise<LocalCluster> {
    const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'local-cluster-'));
    const made = await newWorld(dir, options.tls !== false && options.tls !== undefined, options.users);
    const cluster = new LocalCluster(dir, made, options);
    if (options.tls === 'later') cluster.clientsUse('http');
    cluster.#create(options);
    cluster.#kubelet.start(() => cluster.#jobs.tick());
    if (options.reconciler !== false) cluster.startReconciler();
    return cluster;
  }

  #create({ size = 3, minor = '3.6', version = etcdOf(minor).version, ...rest }: LocalClusterOptions): void {
    const settings = { ...testEtcdSettings, ...rest.etcd };
    this.#writeSettings(settings);
    writeFileSync(join(this.dir, 'reconciler.json'), JSON.stringify({ ...testSettings, ...rest.settings }));
    const { name, namespace } = this.world;
    this.store.create<ClusterObject>('cluster', {
      ...{ name, namespace, generation: 1, finalizer: false, deleting: false, skipFinalBackup: false, status: {} },
      spec: { ...specOf(size, version, rest.tls === true), ...rest.spec },
    });
    this.store.create<StatefulSetObject>('stateful-set', {
      replicas: 1,
      template: { version, settings, epoch: 0, tls: rest.tls === true },
    });
  }

  #writeSettings(settings: Readonly<Record<string, unknown>>): void {
    writeFileSync(join(this.dir, 'settings.json'), JSON.stringify(settings));
  }

  /** Changes spec and template at once, like regenerated manifests. */
  async apply({ spec, version, etcd, tls }: Change): Promise<void> {
    this.store.update<ClusterObject>('cluster', undefined, (old) => ({
      ...old,
      generation: old.generation + 1,
      spec: {
        ...old.spec,
        ...spec,
        ...(version && { version }),
        ...(tls && { tls: tls !== 'off', disablingTls: tls === 'disabling' }),
      },
    }));
    if (!version && !etcd && !tls) return;
    const { template } = this.store.update<StatefulSetObject>('stateful-set', undefined, (old) => ({
      ...old,
      template: {
        ...old.template,
        ...(version && { version }),
        ...(tls && { tls: tls !== 'off' }),
        ...(etcd && { settings: { ...old.template.settings, ...etcd } }),
      },
    }));
    this.#writeSettings(template.settings);
  }

  /** Creates an EtcdRestore. */
  async restore(request: Partial<RestoreRequest>): Promise<void> {
    const name = request.name ?? 'restore';
    this.store.create<RestoreObject>(`restores/${name}`, {
      ...{ name, createdAt: Date.now(), specHash: JSON.stringify(request.source), source: {} },
      ...{ safetyBackup: true, ignoreUnreachablePods: false },
      ...request,
    });
  }

  /** Directory of the volume that the pod of this ordinal has. */
  volume(ordinal: number): string {
    return this.#kubelet.volume(ordinal);
  }

  /** Processes of the pod. */
  pod(ordinal: number): LocalPod {
    return this.#kubelet.pod(ordinal);
  }

  /** Deletes the pod gracefully: etcd gets SIGTERM. Otherwise the pod is gone at once, as with --force. */
  async deletePod(ordinal: number, { graceful = true }: { graceful?: boolean } = {}): Promise<void> {
    if (!graceful) return this.#kubelet.kill(ordinal, () => this.store.remove(`pods/${ordinal}`));
    const uid = podOf(this.store, ordinal)?.uid;
    this.store.update<{ deleting: boolean }>(`pods/${ordinal}`, undefined, (old) => ({ ...old, deleting: true }));
    await this.until(() => podOf(this.store, ordinal)?.uid !== uid, `pod ${ordinal} is gone`);
  }

  /** Kills the pod, and deletes claim and volume. */
  async loseVolume(ordinal: number): Promise<void> {
    const volume = this.volume(ordinal);
    await this.#kubelet.kill(ordinal, () => {
      this.lostVolumes.push(volume);
      this.store.remove(`pods/${ordinal}`);
      this.store.remove(`claims/${ordinal}`);
      rmSync(volume, { recursive: true, force: true });
    });
  }

  /** Loses the node with its volume permanently: a new pod stays Pending until the claim is deleted. */
  async burnNode(ordinal: number): Promise<void> {
    const volume = this.volume(ordinal);
    await this.#kubelet.kill(ordinal, () => {
      this.lostVolumes.push(volume);
      this.store.remove(`pods/${ordinal}`);
      rmSync(volume, { recursive: true, force: true });
    });
  }

  /** Empties the data directory, or the whole volume (`all`), while the pod is killed. Its containers start again. */
  async wipeData(ordinal: number, { all = false }: { all?: boolean } = {}): Promise<void> {
    const volume = this.volume(ordinal);
    await this.#kubelet.kill(ordinal, () => {
      this.lostVolumes.push(volume);
      const directory = all ? volume : join(volume, 'etcd');
      for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true });
    });
  }

  killEtcd(ordinal: number, signal: NodeJS.Signals = 'SIGKILL'): void {
    this.pod(ordinal).killEtcd(signal);
  }

  /** Kills the gate, or the sidecar after it. */
  killAgent(ordinal: number, signal: NodeJS.Signals = 'SIGKILL'): void {
    this.pod(ordinal).killAgent(signal);
  }

  /** Kills all processes of the pod, which start again from the gate, as after a reboot of the node. */
  restartPod(ordinal: number): Promise<void> {
    return this.#kubelet.kill(ordinal);
  }

  /** Switches the node off: all processes of the pod end, and its pod stays, soon not ready. */
  stopKubelet(ordinal: number): Promise<void> {
    return this.#kubelet.off(ordinal);
  }

  /** Switches the node on again. */
  startKubelet(ordinal: number): void {
    this.#kubelet.on(ordinal);
  }

  startReconciler(): void {
    this.#reconciler.start();
  }

  /** Stops the reconciler permanently. */
  stopReconciler(): Promise<void> {
    return this.#reconciler.stop();
  }

  pauseReconciler(): Promise<void> {
    return this.#reconciler.pause();
  }

  resumeReconciler(): void {
    this.#reconciler.signal('SIGCONT');
  }

  /**
   * Stops the reconciler before an effect (`before <rule>`) and starts another, as after an expired lease. The result
   * lets the old one execute the effect, late, and end.
   */
  supersedeReconciler(point: string): Promise<() => Promise<void>> {
    return this.#reconciler.supersede(point);
  }

  /** Kills the reconciler, which is started again. */
  killReconciler(): void {
    this.#reconciler.signal('SIGKILL');
  }

  /** Points at which a process was really killed: `before <rule>`, `after <rule>`, `gate <step>`, `serve <step>`. */
  get crashed(): string[] {
    return crashesDone(this.dir);
  }

  reconcilerCrashesAt(points: CrashPoints): void {
    this.#crash('reconciler', points);
  }

  gateCrashesAt(points: CrashPoints): void {
    this.#crash('gate', points);
  }

  serveCrashesAt(points: CrashPoints): void {
    this.#crash('serve', points);
  }

  /** Points of serve, at which the etcd beside it is killed; `etcd <step>` in `crashed`. */
  etcdCrashesAt(points: CrashPoints): void {
    this.#crash('etcd', points);
  }

  #crash(who: Crasher, points: CrashPoints): void {
    setCrashPoints(this.dir, who, points);
  }

  /** Makes the record unreadable for agents and every object for the reconciler. Nothing is created or deleted. */
  blockApi(): void {
    this.store.locked(() => {
      this.recordFile.block();
      writeFileSync(this.store.file('unreachable'), '');
    });
  }

  unblockApi(): void {
    this.store.locked(() => {
      this.recordFile.unblock();
      rmSync(this.store.file('unreachable'));
    });
  }

  /** Switches etcd's authentication on. The user `client` may use the keys with this prefix. */
  enableAuth(prefix = 'w/'): Promise<void> {
    return enableCertificateAuth(this.client(), { client: prefix });
  }

  /** Deletes the record, like `kubectl delete configmap`. */
  deleteRecord(): Promise<void> {
    return this.recordFile.remove();
  }

  /** Issues new certificates of the same authority, and replaces the files as kubelet does. */
  async replaceCertificates(): Promise<void> {
    const made = await this.#certificates?.renew(join(this.dir, `tls/made-${Date.now()}`));
    if (made)
      await mountCertificates(this.dir, made, this.world.users !== undefined && (await usersOf(this.#certificates!)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reconciler.stop();
    await Promise.all([this.#kubelet.stop(), this.#jobs.stop()]);
    if (this.#isTemporary) await rm(this.dir, { recursive: true, force: true });
  }
}
