import { randomBytes } from 'node:crypto';
import { kubectl, type Output } from '../e2e/support/kubectl';
import type { Manifest } from '../synth';

/**
 * A separate namespace for each suite. It admits only restricted pods, or pods of another level, and warns of others.
 */
export class TestNamespace {
  static async create(purpose: string, level = 'restricted'): Promise<TestNamespace> {
    const name = `etcd-apply-${purpose}-${randomBytes(3).toString('hex')}`;
    const labels = {
      'app.kubernetes.io/part-of': 'cdk8s-etcd-apply',
      'pod-security.kubernetes.io/enforce': level,
      'pod-security.kubernetes.io/warn': level,
    };
    const manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
    await kubectl(['create', '-f', '-'], JSON.stringify(manifest));
    return new TestNamespace(name);
  }

  private constructor(readonly name: string) {}

  kubectl(args: readonly string[], input?: string): Promise<Output> {
    return kubectl([`--namespace=${this.name}`, ...args], input);
  }

  async get(...args: string[]): Promise<Manifest> {
    const { stdout } = await this.kubectl(['get', '-o', 'json', ...args]);
    return JSON.parse(stdout);
  }

  /** Our objects have no finalizers, so it is not necessary to wait for the deletion. */
  async delete(): Promise<void> {
    await kubectl(['delete', 'namespace', this.name, '--wait=false']);
  }
}
