// `npm run docs`: builds the site from docs/ into tmp/site. `npm run docs -- --serve` serves it here instead, and follows changes.
import { optionsOf } from '../lib/named.mjs';
import { status } from '../lib/steps.mjs';

const { serve } = optionsOf('docs', { serve: { type: 'boolean', default: false } });
process.exitCode = status('vitepress', [serve ? 'dev' : 'build', 'docs']);
if (!serve && process.exitCode === 0) console.log('The site is in tmp/site. `npm run docs -- --serve` serves it here.');
