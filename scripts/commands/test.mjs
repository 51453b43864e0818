// `npm test [-- PATH…]`: the unit tests (`*.test.ts`), or those of some paths.
import { bundle, tests } from '../lib/steps.mjs';

bundle();
process.exitCode = tests(process.argv.slice(2));
