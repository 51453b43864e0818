import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const program = join(__dirname, '../../agent/test/local/informer.mts');

/** ConfigMaps as a client's informer has them, name to value. It stays open while there is no API server. */
export class Informer implements Disposable {
  static async open(namespace: string): Promise<Informer> {
    const informer = new Informer(
      spawn(process.execPath, [program, namespace], { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    while (informer.seen === undefined) await sleep(100);
    return informer;
  }

  seen: Readonly<Record<string, string>> | undefined;

  private constructor(private readonly child: ChildProcess) {
    createInterface(child.stdout!).on('line', (line) => {
      this.seen = JSON.parse(line);
    });
  }

  [Symbol.dispose](): void {
    this.child.kill();
  }
}
