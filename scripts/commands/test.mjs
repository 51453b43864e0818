// `npm test [-- PATH…]`: the unit tests (`*.test.ts`), or those of some paths.
import { bundle, jest, provide } from '../lib/steps.mjs';

provide('etcd', '--any');
bundle();
process.exitCode = jest(process.argv.slice(2));
