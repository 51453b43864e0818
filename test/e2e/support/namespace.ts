import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Manifest } from '../../synth';
import { kubectl, type Output } from './kubectl';

/** A separate namespace for each suite. It admits only restricted pods, and warns of others. */
export class Namespace {
  static async create(purpose: string): Promise<Namespace> {
    const namespace = new Namespace(`etcd-e2e-${purpose}-${randomBytes(3).toString('hex')}`);
    await namespace.make();
    return namespace;
  }

  /** A namespace that the manifests under test create. */
  static named(name: string): Namespace {
    return new Namespace(name);
  }

  private constructor(readonly name: string) {}

  /** Creates it again after it was deleted. */
  async make(): Promise<void> {
    const labels = {
      'app.kubernetes.io/part-of': 'cdk8s-etcd-e2e',
      'pod-security.kubernetes.io/enforce': 'restricted',
      'pod-security.kubernetes.io/warn': 'restricted',
    };
    const metadata = { name: this.name, labels };
    await kubectl(['create', '-f', '-'], json({ apiVersion: 'v1', kind: 'Namespace', metadata }));
  }

  kubectl(args: readonly string[], input?: string): Promise<Output> {
    return kubectl([`--namespace=${this.name}`, ...args], input);
  }

  async apply(manifests: readonly Manifest[]): Promise<void> {
    await this.kubectl(['apply', '-f', '-'], json({ apiVersion: 'v1', kind: 'List', items: manifests }));
  }

  async get(...args: string[]): Promise<Manifest> {
    const { stdout } = await this.kubectl(['get', '-o', 'json', ...args]);
    return JSON.parse(stdout);
  }

  /** Calls the function every second until it returns a value. */
  async until<T>(what: string, seconds: number, ask: () => Promise<T | undefined>): Promise<T> {
    const deadline = Date.now() + seconds * 1000;
    for (;;) {
      const answer = await ask();
      if (answer !== undefined) return answer;
      if (Date.now() > deadline) throw new Error(`${what}: not after ${seconds} s\n${await this.state()}`);
      await setTimeout(1000);
    }
  }

  async ready(kind: string, name: string): Promise<void> {
    await this.kubectl(['rollout', 'status', `${kind}/${name}`, '--timeout=300s']).catch(async (error) => {
      throw new Error(`${kind} ${name} is not ready: ${error.message}\n${await this.state()}`);
    });
  }

  async delete(): Promise<void> {
    await kubectl(['delete', 'namespace', this.name, '--ignore-not-found', '--timeout=300s']);
  }

  private async state(): Promise<string> {
    const objects = await this.kubectl(['get', 'jobs,pods,persistentvolumeclaims', '-o', 'wide']);
    const events = await this.kubectl(['get', 'events', '--sort-by=.lastTimestamp']);
    return `${objects.stdout}\n${events.stdout.split('\n').slice(-30).join('\n')}`;
  }
}

const json = JSON.stringify;
