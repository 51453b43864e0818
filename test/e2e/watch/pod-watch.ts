import { type ChildProcess, spawn } from 'node:child_process';
import type { Namespace } from '../support/namespace';

// No tabs: kubectl would align what is between them, and hold it back until it is complete.
const fields = '{.metadata.name}{" "}{.status.containerStatuses[0].state.terminated.exitCode}{"\\n"}';

/** Records how the containers of a Job's pods end, including pods that disappear a moment later. */
export class PodWatch implements Disposable {
  /** Exit codes by pod. */
  readonly exitCodes = new Map<string, number>();
  readonly #kubectl: ChildProcess;

  constructor(namespace: Namespace, job: string) {
    const selection = [`--namespace=${namespace.name}`, 'get', 'pods', `--selector=job-name=${job}`];
    const output = ['--watch', '--output', `jsonpath=${fields}`];
    const kubectl = spawn('kubectl', [...selection, ...output], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    kubectl.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (text + chunk).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) this.#read(line);
    });
    this.#kubectl = kubectl;
  }

  #read(line: string): void {
    const [pod, exitCode] = line.split(' ');
    if (pod && exitCode) this.exitCodes.set(pod, Number(exitCode));
  }

  [Symbol.dispose](): void {
    this.#kubectl.kill();
  }
}
