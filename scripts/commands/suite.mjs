// `npm run suite -- NAME [--smoke] [PATH…]`: one of the slow suites; without a name, the list of them. A path of a
// `*.suite.ts` runs that file alone.

import { chosen } from '../lib/named.mjs';
import { bundle, servers, suites } from '../lib/steps.mjs';
import { all } from '../suites/suites.mjs';

const argv = process.argv.slice(2);
const isPath = (word) => word?.includes('/');
if (isPath(argv[0])) {
  if (argv[0].startsWith('agent/')) servers();
  bundle();
  const smoke = argv.includes('--smoke');
  process.exitCode = suites(
    argv.filter((word) => word !== '--smoke'),
    { smoke },
  );
} else {
  const { name, args } = chosen('suite', all, argv);
  process.env.SUITE = name;
  const smoke = args.includes('--smoke') && all[name].smoke !== false;
  process.exitCode = all[name].run({ smoke, args: args.filter((word) => word !== '--smoke') });
}
