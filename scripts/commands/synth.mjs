// `npm run synth`: writes dist/.
import { build, must, status } from '../lib/steps.mjs';

build();
must(status('cdk8s', ['synth', '--check-upgrade=false']));
