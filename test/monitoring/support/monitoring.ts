import type { ChildProcess } from 'node:child_process';
import type { Labels } from '../../../src/lib/manifest';
import { kubectl, kubectlProxy } from '../../e2e/support/kubectl';
import { Namespace } from '../../e2e/support/namespace';
import type { Manifest } from '../../synth';
import {
  alertmanager,
  alertmanagerManifest,
  clusterRoles,
  operator,
  operatorManifests,
  prometheus,
  prometheusManifest,
} from './operator';

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

export interface Series {
  readonly labels: Labels;
  /** Seconds since 1970, and the value then. */
  readonly values: readonly (readonly [at: number, value: number])[];
}

/**
 * A Prometheus and an Alertmanager that the Prometheus operator runs, in a namespace of their own, for the ServiceMonitors
 * and PrometheusRules of another one.
 */
export class Monitoring {
  static async begin(watched: Namespace): Promise<Monitoring> {
    const namespace = await Namespace.create('monitoring');
    await kubectl(['apply', '-f', '-'], list(clusterRoles(namespace.name)));
    await namespace.apply(operatorManifests([namespace.name, watched.name]));
    await namespace.ready('deployment', operator);
    await namespace.apply([prometheusManifest(namespace.name, [watched.name]), alertmanagerManifest()]);
    for (const name of [`prometheus-${prometheus}`, `alertmanager-${alertmanager}`]) {
      const found = () => namespace.get('statefulset', name).catch(() => undefined);
      await namespace.until(`StatefulSet ${name}`, 120, found);
      await namespace.ready('statefulset', name);
    }
    const { proxy, url } = await kubectlProxy();
    return new Monitoring(namespace, watched, proxy, `${url}/api/v1/namespaces/${namespace.name}/pods`);
  }

  readonly #namespace: Namespace;
  readonly #watched: Namespace;
  readonly #proxy: ChildProcess;
  readonly #pods: string;

  private constructor(namespace: Namespace, watched: Namespace, proxy: ChildProcess, pods: string) {
    this.#namespace = namespace;
    this.#watched = watched;
    this.#proxy = proxy;
    this.#pods = pods;
  }

  /** The names of the alerts of a cluster that Alertmanager knows to fire, sorted. */
  async alerts(cluster: string): Promise<string[]> {
    const found: Manifest[] = await this.#get(`alertmanager-${alertmanager}-0:9093/proxy/api/v2/alerts?active=true`);
    const { name: namespace } = this.#watched;
    const own = found.filter(({ labels }) => labels.etcd_cluster === cluster && labels.namespace === namespace);
    return [...new Set<string>(own.map(({ labels }) => labels.alertname))].sort();
  }

  /** Names of the alerts of a cluster that fired, or are firing, in these last seconds. Sorted. */
  async firedSince(cluster: string, since: number): Promise<string[]> {
    const seconds = Math.ceil((Date.now() - since) / 1_000);
    const selector = `alertstate="firing", etcd_cluster="${cluster}", namespace="${this.#watched.name}"`;
    const found = await this.query(`count by (alertname) (count_over_time(ALERTS{${selector}}[${seconds}s]))`);
    return found.map(({ labels }) => labels.alertname!).sort();
  }

  async query(expr: string): Promise<Sample[]> {
    const { result }: Manifest = await this.#prometheus('query', { query: expr });
    return result.map(({ metric, value }: Manifest) => ({ labels: metric, value: Number(value[1]) }));
  }

  /** In seconds since 1970. */
  async range(expr: string, start: number, end: number, step: number): Promise<Series[]> {
    const times = { start: String(start), end: String(end), step: String(step) };
    const { result }: Manifest = await this.#prometheus('query_range', { query: expr, ...times });
    return result.map(({ metric, values }: Manifest) => ({
      labels: metric,
      values: values.map(([at, value]: [number, string]) => [at, Number(value)] as const),
    }));
  }

  /** The names of all alerts that Prometheus evaluates for a cluster. */
  async rules(): Promise<string[]> {
    const { groups }: Manifest = await this.#prometheus('rules', { type: 'alert' });
    return groups.flatMap(({ rules }: Manifest) => rules.map(({ name }: Manifest) => name));
  }

  /** Scrape pools of the targets that answer, each as often as it has such a target; and the errors of the others. */
  async targets(): Promise<{ up: string[]; down: string[] }> {
    const { activeTargets }: Manifest = await this.#prometheus('targets', { state: 'active' });
    const isUp = ({ health }: Manifest) => health === 'up';
    return {
      up: activeTargets
        .filter(isUp)
        .map(({ scrapePool }: Manifest) => scrapePool)
        .sort(),
      down: activeTargets
        .filter((target: Manifest) => !isUp(target))
        .map(({ scrapeUrl, lastError }: Manifest) => `${scrapeUrl}: ${lastError}`),
    };
  }

  async end(): Promise<void> {
    this.#proxy.kill();
    await kubectl(['delete', '--ignore-not-found', '-f', '-'], list(clusterRoles(this.#namespace.name)));
    await this.#namespace.delete();
  }

  async #prometheus(what: string, parameters: Labels): Promise<Manifest> {
    const path = `prometheus-${prometheus}-0:9090/proxy/api/v1/${what}?${new URLSearchParams(parameters)}`;
    const { status, error, data }: Manifest = await this.#get(path);
    if (status !== 'success') throw new Error(`${JSON.stringify(parameters)}: ${error}`);
    return data;
  }

  async #get(path: string): Promise<Manifest> {
    const answer = await fetch(`${this.#pods}/${path}`);
    if (!answer.ok && answer.status !== 400) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }
}

const list = (items: readonly Manifest[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
