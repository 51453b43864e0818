// A separate process, which has to end by itself. Puts one object into each of the stores given as JSON, and prints the errors as JSON.
import { openStore } from '../../src/store/open.ts';
import type { StoreSpec } from '../../src/store/spec.ts';
import { once } from './store-contract.ts';

const specs: StoreSpec[] = JSON.parse(process.argv[2]!);
const outcomes = specs.map(async (spec) => {
  try {
    const store = await openStore(spec);
    await store.put('a/b', once('x')).finally(() => store.close());
    return {};
  } catch (error) {
    return { exitCode: (error as { exitCode?: number }).exitCode, message: (error as Error).message };
  }
});
process.stdout.write(JSON.stringify(await Promise.all(outcomes)));
