import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { kubectl } from '../../e2e/support/kubectl';
import type { Manifest } from '../../synth';

const root = join(__dirname, '../../..');

/** Pushes a folder to the repository that both tools watch. */
const command = process.env.GITOPS ?? '';
if (!command) throw new Error('GITOPS is not set; run these suites with npm run suite -- gitops');
const repository = process.env.GITOPS_REPOSITORY ?? 'http://127.0.0.1:7080/platform.git';

const push = async (folder: string): Promise<string> =>
  execFileSync(command, ['push', folder], { encoding: 'utf8' }).trim();

export async function get(...args: string[]): Promise<Manifest> {
  return JSON.parse((await kubectl(['get', '-o', 'json', ...args])).stdout);
}

/** Its status is of its newest spec, and says that it is as asked for. */
export function isReady({ kind, metadata, status = {} }: Manifest): boolean {
  const wanted = kind === 'Deployment' ? 'Available' : 'Ready';
  const is = ({ type, status: value }: Manifest) => type === wanted && value === 'True';
  return status.observedGeneration === metadata.generation && (status.conditions ?? []).some(is);
}

/** What the tool says at a moment. */
export interface Said {
  readonly revision?: string;
  readonly isSynced: boolean;
  readonly isHealthy: boolean;
  /** It compares what it applied with what is there, and has found nothing so far. */
  readonly isComparing?: boolean;
  /** Syncs that were carried out so far, if the tool counts them. */
  readonly syncs?: number;
  readonly text: string;
}

export interface Tool {
  readonly name: string;
  /** Makes the folder what it applies. Returns the revision. */
  push(folder: string): Promise<string>;
  /** Begins to apply the repository. */
  begin(): Promise<void>;
  said(): Promise<Said>;
  /** Stops, and deletes nothing. */
  end(): Promise<void>;
  /** Stops, and deletes what it may. */
  endWithPruning(): Promise<void>;
}

/** The objects of a file of the guide, with the repository of the test bed. */
function objectsOf(file: string): Manifest[] {
  const text = readFileSync(join(root, file), 'utf8').replaceAll('https://git.example.com/platform.git', repository);
  return parseAllDocuments(text).map((document) => document.toJS());
}

const apply = async (items: readonly Manifest[]): Promise<void> => {
  await kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
};

const argocdWith = (name: string, annotations: Record<string, string> = {}): Tool => ({
  name,
  push,

  async begin() {
    const settings = join(root, 'gitops/argocd/argocd-cm.yaml');
    await kubectl(['patch', 'configmap', 'argocd-cm', '-n', 'argocd', '--patch-file', settings]);
    const objects = objectsOf('gitops/argocd/application.yaml');
    for (const { metadata } of objects) metadata.annotations = annotations;
    await apply(objects);
  },

  async said() {
    const { status = {} } = await get('application.argoproj.io', 'etcd', '-n', 'argocd');
    const { sync = {}, health = {}, history = [], operationState = {}, conditions = [] } = status;
    const troubles = conditions.map(({ type, message }: Manifest) => `${type}: ${message}`).join('; ');
    const unhealthy = (status.resources ?? [])
      .filter(({ status, health }: Manifest) => status !== 'Synced' || (health && health.status !== 'Healthy'))
      .map(({ kind, name, status, health }: Manifest) => `${kind} ${name} ${status} ${health?.status ?? ''}`);
    return {
      revision: sync.revision,
      isSynced: sync.status === 'Synced',
      isHealthy: health.status === 'Healthy',
      syncs: history.length,
      text: `${sync.status} ${health.status}, ${operationState.phase}: ${operationState.message ?? ''} ${troubles} ${unhealthy.join(', ')}`,
    };
  },

  async end() {
    await kubectl(['delete', 'application.argoproj.io', 'etcd', '-n', 'argocd', '--ignore-not-found']);
  },

  async endWithPruning() {
    const patch = JSON.stringify({ metadata: { finalizers: ['resources-finalizer.argocd.argoproj.io'] } });
    await kubectl(['patch', 'application.argoproj.io', 'etcd', '-n', 'argocd', '--type=merge', '-p', patch]);
    await this.end();
  },
});

export const argocd = argocdWith('Argo CD');
export const argocdServerSide = argocdWith('Argo CD with server-side diff', {
  'argocd.argoproj.io/compare-options': 'ServerSideDiff=true',
});

const kustomizations = ['etcd', 'etcd-crds'];

const fluxWith = (name: string, spec: object = {}): Tool => ({
  name,
  push,

  async begin() {
    const objects = objectsOf('gitops/flux/kustomizations.yaml');
    // Compared every 15 seconds, as Argo CD does here.
    for (const object of objects) Object.assign(object.spec, { interval: '15s', ...spec });
    await apply(objects);
  },

  async said() {
    const found = await Promise.all(
      kustomizations.map((name) => get('kustomization.kustomize.toolkit.fluxcd.io', name, '-n', 'flux-system')),
    );
    const ready = found.map(({ status = {} }) => status.conditions?.find(({ type }: Manifest) => type === 'Ready'));
    const [{ status = {} } = {} as Manifest] = found;
    return {
      revision: status.lastAppliedRevision?.split(':').at(-1),
      isSynced: status.lastAttemptedRevision === status.lastAppliedRevision,
      isHealthy: ready.every((each) => each?.status === 'True'),
      isComparing: ready.every(
        (each) => ['True', 'Unknown'].includes(each?.status) || each?.reason === 'DependencyNotReady',
      ),
      text: ready.map((each) => `${each?.status} ${each?.reason}: ${each?.message}`).join('; '),
    };
  },

  async end() {
    for (const name of kustomizations) {
      const kind = 'kustomization.kustomize.toolkit.fluxcd.io';
      // Suspended first, because its finalizer prunes what it applied.
      const patch = ['--type=merge', '-p', '{"spec":{"suspend":true}}'];
      await kubectl(['patch', kind, name, '-n', 'flux-system', ...patch]).catch(() => {});
      await kubectl(['delete', kind, name, '-n', 'flux-system', '--ignore-not-found']);
    }
  },

  async endWithPruning() {
    const kind = 'kustomization.kustomize.toolkit.fluxcd.io';
    for (const name of kustomizations) await kubectl(['delete', kind, name, '-n', 'flux-system']);
  },
});

export const flux = fluxWith('Flux');
/** Without the feature gate of the guide Flux looks at a revert only when it no longer waits for the commit before. */
export const impatientFlux = fluxWith('Flux that waits for 20 s', { timeout: '20s' });

/** Asks every second until the tool says what is wanted. Returns all that it said. */
export async function until(tool: Tool, what: string, seconds: number, is: (said: Said) => boolean): Promise<Said[]> {
  const trail: Said[] = [];
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    let last: string;
    try {
      const said = await tool.said();
      trail.push(said);
      if (is(said)) return trail;
      last = said.text;
    } catch (error) {
      // It has said nothing: it is not there yet, or the API server is busy.
      last = `${error}`;
    }
    if (Date.now() > deadline) throw new Error(`${tool.name}: ${what}: not after ${seconds} s: ${last}`);
    await setTimeout(1000);
  }
}
