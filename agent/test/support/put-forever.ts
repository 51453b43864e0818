// A process for tests to kill: puts an object that never ends, and prints a line when a part of it is written.
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore, parseStore } from '../../src/store/open.ts';

async function* endless(): AsyncGenerator<Uint8Array> {
  for (let chunks = 0; ; chunks++) {
    yield Buffer.alloc(1024 * 1024, chunks);
    if (chunks === 20) process.stdout.write('writing\n');
    if (chunks >= 20) await sleep(10);
  }
}

const store = await openStore(parseStore(process.argv[2]!));
await store.put('cluster/x.db', endless());
