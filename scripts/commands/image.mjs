// Builds the agent's image: `npm run image -- [--tag NAME] [--build-arg KEY=VALUE]...`
import { parseArgs } from 'node:util';
import { buildImage, findBuilder, releaseImage } from '../lib/image-builder.mjs';
import { bundle } from '../lib/steps.mjs';

const { values } = parseArgs({
  options: {
    tag: { type: 'string', default: releaseImage },
    'build-arg': { type: 'string', multiple: true, default: [] },
  },
});
bundle();
const builder = findBuilder();
process.exitCode = builder ? buildImage(builder, values.tag, values['build-arg']) : 2;
