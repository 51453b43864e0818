// `npm run check`: everything about the source that needs no test to run. All checks run; the failed ones are named at the end.
import { optionsOf } from '../lib/named.mjs';
import { build, bundle, node, status } from '../lib/steps.mjs';

optionsOf('check', {});

build();
bundle();
const roots = ['README.md', 'API.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];
const pages = [...roots, 'bench/RESULTS.md', 'docs/**/*.md'];
const checks = {
  'format and lint': () => status('biome', ['check', '--error-on-warnings', '.']),
  'types of the library': () => status('tsc', ['--noEmit', '-p', 'tsconfig.json']),
  'types of the agent': () => status('tsc', ['--noEmit', '-p', 'agent/tsconfig.json']),
  'unused code': () => status('knip', []),
  rooms: () => status('depcruise', ['--config', '.dependency-cruiser.mjs', '--output-type', 'err', 'src', 'agent/src']),
  spelling: () => status('cspell', ['--no-progress', '--no-summary', '--dot', '.']),
  style: () => status('textlint', pages),
  'style of comments': () => node('scripts/check/comments.mjs'),
  'advice outside of commands': () => node('scripts/check/advice.mjs'),
  habits: () => node('scripts/check/habits.mjs'),
  'crds/ and imports/': () => node('scripts/check/imports.mjs'),
  'the rules of crds/': () => node('scripts/check/crd-rules.mjs'),
  'the types of the custom resources': () => node('scripts/generate/resource-types.mjs', ['--check']),
  'the defaults of the custom resources': () => node('scripts/generate/resource-defaults.mjs', ['--check']),
  'schemas/': () => node('scripts/generate/json-schemas.mjs', ['--check']),
  'the types of properties': () => node('scripts/generate/property-types.mjs', ['--check']),
  'the dashboard': () => node('scripts/generate/dashboard.mjs', ['--check']),
  'the page of the custom resources': () => node('scripts/generate/custom-resources.mjs', ['--check']),
  'the site': () => node('scripts/commands/docs.mjs'),
  'the pictures': () => node('scripts/generate/diagrams.mjs', ['--check']),
  'dist/': () => node('scripts/check/dist.mjs'),
  'API.md': () => node('scripts/generate/api.mjs', ['--check']),
  'the page of the command line': () => node('scripts/generate/command-line.mjs', ['--check']),
  'the page of the metrics': () => node('scripts/generate/metrics.mjs', ['--check']),
};
const failed = Object.entries(checks)
  .filter(([, run]) => run() !== 0)
  .map(([name]) => name);
if (failed.length > 0) console.error(`check failed: ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
