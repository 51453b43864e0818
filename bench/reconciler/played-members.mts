import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { reap } from '../../agent/test/harness/reaper.ts';
import type { Asked, Member } from './member.mts';

const dnsAddress = '127.53.53.53';

/** All simulated members of all clusters, in one process. */
export class PlayedMembers implements AsyncDisposable {
  readonly dns = dnsAddress;
  readonly #child: ChildProcess;
  #turn: Promise<unknown> = Promise.resolve();

  constructor() {
    this.#child = fork(join(import.meta.dirname, 'members.mts'), [dnsAddress, '53']);
    reap(this.#child.pid!);
  }

  async know(members: readonly Member[]): Promise<void> {
    await this.#ask({ members });
  }

  /** Since the last time. */
  asked(): Promise<Asked> {
    return this.#ask({});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.disconnect();
    await once(this.#child, 'exit');
  }

  #ask(message: object): Promise<Asked> {
    const answer = this.#turn.then(async () => {
      this.#child.send(message);
      const [asked] = await once(this.#child, 'message');
      return asked as Asked;
    });
    this.#turn = answer.catch(() => {});
    return answer;
  }
}
