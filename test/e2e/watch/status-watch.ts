import { type ChildProcess, spawn } from 'node:child_process';
import type { Manifest } from '../../synth';
import type { Namespace } from '../support/namespace';

/** Records the conditions of every status of an EtcdCluster. */
export class StatusWatch implements Disposable {
  readonly seen: Manifest[][] = [];
  readonly #kubectl: ChildProcess;

  constructor(namespace: Namespace, cluster: string) {
    const selection = [
      `--namespace=${namespace.name}`,
      'get',
      'etcdclusters',
      `--field-selector=metadata.name=${cluster}`,
    ];
    const output = ['--watch', '--output', 'jsonpath={.status.conditions}{"\\n"}'];
    this.#kubectl = spawn('kubectl', [...selection, ...output], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    this.#kubectl.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (text + chunk).split('\n');
      text = lines.pop() ?? '';
      this.seen.push(...lines.filter(Boolean).map((line) => JSON.parse(line)));
    });
  }

  /** Each status and reason of a condition, in order. */
  of(type: string): string[] {
    const all = this.seen.map((conditions) => conditions.find((one) => one.type === type));
    const told = all.map((one) => `${one?.status} ${one?.reason}`);
    return told.filter((one, at) => one !== told[at - 1]);
  }

  [Symbol.dispose](): void {
    this.#kubectl.kill();
  }
}
