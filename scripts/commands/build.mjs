// `npm run build`: compiles the library into lib/ and bundles the agent into agent/lib/, and kubectl-etcd into lib/.
import { optionsOf } from '../lib/named.mjs';
import { build, bundle, plugin } from '../lib/steps.mjs';

optionsOf('build', {});

build();
bundle();
plugin();
