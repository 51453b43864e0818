// `npm run synth`: writes dist/.
import { optionsOf } from '../lib/named.mjs';
import { writeDist } from '../lib/synthesize.mjs';

optionsOf('synth', {});

await writeDist();
