// `npm run generate`: writes every file that is made from the source: crds/, schemas/, the types of the custom resources and of properties, imports/, the dashboard, API.md, the pages of
// the custom resources, of the command line, of the metrics and of the reconciler's rules, the pictures, Argo CD's health
// checks in gitops/, and dist/.
import { optionsOf } from '../lib/named.mjs';
import { bundle, must, node, tests } from '../lib/steps.mjs';
import { writeDist } from '../lib/synthesize.mjs';

optionsOf('generate', {});

must(node('scripts/generate/crds.mjs'));
must(node('scripts/generate/resource-types.mjs'));
must(node('scripts/generate/resource-defaults.mjs'));
must(node('scripts/generate/json-schemas.mjs'));
must(node('scripts/generate/property-types.mjs'));
must(node('scripts/generate/custom-resources.mjs'));
must(node('scripts/generate/diagrams.mjs'));
must(node('scripts/generate/dashboard.mjs'));
must(node('scripts/generate/api.mjs'));
bundle();
must(node('scripts/generate/command-line.mjs'));
must(node('scripts/generate/metrics.mjs'));
must(
  tests(['agent/test/reconcile-docs/state-machine.test.ts', 'agent/test/gitops/argocd.test.ts'], { UPDATE_DOCS: '1' }),
);
await writeDist();
