import { setTimeout } from 'node:timers/promises';
import { kubectl } from '../../e2e/support/kubectl';
import { claim } from '../../e2e/support/manifests';
import type { Manifest } from '../../synth';
import { sharedFields } from './owners';
import { type ClusterName, type Commit, clusters, otherName, Platform, teams } from './platform';
import { argocd, flux, get, isReady, type Said, type Tool, until } from './tool';

/** One line of the report. */
export const tell = (line: string): boolean => process.stdout.write(`gitops: ${line}\n`);

const namespaceOf = (name: ClusterName): string => clusters.find((each) => each[1] === name)![0];

/** Pods of the team `gitops-shop`. */
export const podsOf = async (name: string): Promise<Manifest[]> =>
  (await get('pods', '-n', 'gitops-shop', '-l', `app.kubernetes.io/name=${name}`)).items;

/** A platform repository, the tool that applies it, and what came of it. */
export class Stage {
  readonly #platform = new Platform();
  #revision = '';

  constructor(readonly tool: Tool) {}

  /** From a Kubernetes without our objects. */
  async begin(): Promise<void> {
    // A run that was killed has left its tool behind, which would apply the same objects.
    for (const each of new Set([argocd, flux, this.tool])) await each.end();
    await this.#clear();
  }

  /** Begins with three clusters that serve. */
  async beginWithClusters(commit?: Commit): Promise<void> {
    await this.begin();
    await this.commit(commit);
    await this.tool.begin();
    await this.isDone('three clusters from nothing');
    await this.addClaims();
  }

  /** For backups. Not in the repository: Argo CD waits for a claim until a pod uses it. */
  async addClaims(): Promise<void> {
    for (const team of teams) await kubectl(['apply', '-n', team, '-f', '-'], JSON.stringify(claim('backup')));
  }

  async end(): Promise<void> {
    await this.tool.end();
    await this.#clear();
    this.#platform.end();
  }

  async #clear(): Promise<void> {
    await kubectl(['delete', 'namespace', ...teams, otherName, '--ignore-not-found', '--timeout=300s']);
  }

  async commit(commit: Commit = {}): Promise<void> {
    this.#revision = await this.tool.push(this.#platform.write(commit));
  }

  /** Waits until the tool says that the last commit is there and well. Returns what it said on the way. */
  async isDone(what: string, seconds = 600): Promise<Said[]> {
    const begun = Date.now();
    const isIt = ({ revision, isSynced, isHealthy }: Said) => revision === this.#revision && isSynced && isHealthy;
    const trail = await until(this.tool, what, seconds, isIt);
    tell(`${this.tool.name}: ${what}: ${Math.round((Date.now() - begun) / 1000)} s`);
    return trail;
  }

  /** Waits for some of the tool's own rounds. Returns what it said. */
  async rounds(seconds = 50): Promise<Said[]> {
    const deadline = Date.now() + seconds * 1000;
    return until(this.tool, 'rounds', seconds + 60, () => Date.now() > deadline);
  }

  /** Asks the tool every second until this has ended. Returns what it said. */
  async during(work: Promise<unknown>, seconds: number): Promise<Said[]> {
    let isEnded = false;
    const end = () => {
      isEnded = true;
    };
    work.then(end, end);
    return until(this.tool, 'the end', seconds, () => isEnded);
  }

  /** Asks every second until it is so. */
  async becomes(what: string, seconds: number, is: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + seconds * 1000;
    while (!(await is())) {
      if (Date.now() > deadline) throw new Error(`${what}: not after ${seconds} s: ${(await this.tool.said()).text}`);
      await setTimeout(1000);
    }
  }

  cluster(name: ClusterName): Promise<Manifest> {
    return get('etcdcluster', name, '-n', namespaceOf(name));
  }

  async conditionOf(name: ClusterName, type: string): Promise<Manifest | undefined> {
    return (await this.cluster(name)).status.conditions.find((each: Manifest) => each.type === type);
  }

  async notReady(): Promise<string[]> {
    const all = await Promise.all(clusters.map(([, name]) => this.cluster(name)));
    return all.filter((each) => !isReady(each)).map(({ metadata }) => metadata.name);
  }

  /** Kubernetes counts each change of a spec in the generation. */
  async generations(): Promise<string[]> {
    const kinds = 'etcdclusters,etcdusers,statefulsets,deployments,networkpolicies,cronjobs';
    const found = await Promise.all(teams.map((team) => get(kinds, '-n', team)));
    return found.flatMap(({ items }) =>
      items.map(({ kind, metadata }: Manifest) => `${kind} ${metadata.name} ${metadata.generation}`),
    );
  }

  /** What would make two programs fight, or has lost something. */
  async troubles(): Promise<string[]> {
    const found: string[] = [];
    for (const [namespace, name] of clusters) {
      for (const [kind, object] of [
        ['EtcdCluster', 'etcdcluster'],
        ['StatefulSet', 'statefulset'],
      ] as const) {
        const shared = sharedFields(await get(object, name, '-n', namespace, '--show-managed-fields'));
        const lines = shared ?? ['does not say who owns its fields'];
        found.push(...lines.map((line) => `${kind} ${name} ${line}`));
      }
    }
    for (const team of teams) {
      const { items } = await get('secrets', '-n', team, '-l', 'app.kubernetes.io/managed-by=cdk8s');
      const empty = items.filter(({ data = {} }: Manifest) => Object.keys(data).length === 0);
      found.push(...empty.map(({ metadata }: Manifest) => `Secret ${metadata.name} is empty`));
    }
    return found;
  }
}
