// `npm run build`: compiles the library into lib/ and bundles the agent into agent/lib/, and kubectl-etcd into lib/.
import { build, bundle, plugin } from '../lib/steps.mjs';

build();
bundle();
plugin();
