import { createRequire } from 'node:module';
import type { Target } from '../target.ts';

interface Library {
  render(text: string, options: object): { readonly yaml: string };
}

/** The compiled library: its sources are CommonJS, which Node does not read from TypeScript. */
const library = (): Library => createRequire(import.meta.url)('../../../../lib/src/render/run.js');

export const rendering: readonly Target[] = [
  {
    name: 'render',
    about: 'resources in YAML, of our own API and of older operators',
    kind: 'yaml',
    corpus: ['render'],
    expects: (error) => error.constructor.name === 'InputError',
    run: (input) => library().render(input.toString(), { file: 'input.yaml' }).yaml.length,
  },
];
