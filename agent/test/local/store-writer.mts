import { Conflict, FileStore } from './store.ts';

/**
 * Increments a counter, as one of several processes: `node store-writer.mts DIRECTORY TIMES`, or takes the lock
 * forever: `… hold`.
 */
const [, , dir, times] = process.argv;
const store = new FileStore(dir!);

if (times === 'hold') {
  store.locked(() => {
    process.stdout.write('locked');
    for (;;);
  });
}
for (let left = Number(times); left > 0; ) {
  const seen = store.read<{ count: number }>('counter')!;
  try {
    store.update<{ count: number }>('counter', seen.rv, (old) => ({ count: old.count + 1 }));
    left--;
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
  }
}
