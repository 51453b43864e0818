// `npm test [-- PATH…]`: the unit tests (`*.test.ts`), or those of some paths.
import { bundle, jest } from '../lib/steps.mjs';

bundle();
process.exitCode = jest(process.argv.slice(2));
