// `npm run bench -- NAME [--smoke] [ARGUMENTS]`: one of the benchmarks; without a name, the list of them.
import { chosen } from '../lib/named.mjs';
import { benches, runBench } from '../suites/suites.mjs';

const { name, args } = chosen('bench', benches, process.argv.slice(2));
process.exitCode = runBench(name, args);
