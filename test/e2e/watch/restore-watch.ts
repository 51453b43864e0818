import { type ChildProcess, spawn } from 'node:child_process';
import type { Namespace } from '../support/namespace';

/** Records every phase of an EtcdRestore, in order. */
export class RestoreWatch implements Disposable {
  readonly phases: string[] = [];
  readonly #kubectl: ChildProcess;

  constructor(namespace: Namespace, name: string) {
    const selection = [
      `--namespace=${namespace.name}`,
      'get',
      'etcdrestores',
      `--field-selector=metadata.name=${name}`,
    ];
    const output = ['--watch', '--output', 'jsonpath={.status.phase}{"\\n"}'];
    this.#kubectl = spawn('kubectl', [...selection, ...output], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    this.#kubectl.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (text + chunk).split('\n');
      text = lines.pop() ?? '';
      for (const phase of lines) if (phase !== '' && this.phases.at(-1) !== phase) this.phases.push(phase);
    });
  }

  [Symbol.dispose](): void {
    this.#kubectl.kill();
  }
}
