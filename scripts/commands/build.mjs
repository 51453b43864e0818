// `npm run build`: compiles the library into lib/ and bundles the agent into agent/lib/.
import { build, bundle } from '../lib/steps.mjs';

build();
bundle();
