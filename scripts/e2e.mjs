// `npm run test:e2e -- [--smoke]`: the agent's image on the Kubernetes that KUBECONFIG names. docs/testing.md has the settings.
import { parseArgs } from 'node:util';
import { TestKubernetes } from './lib/test-kubernetes.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false } },
});
const kubernetes = new TestKubernetes('test:e2e');
const env = { AGENT_IMAGE: kubernetes.provideImage(), E2E_SMOKE: values.smoke ? '1' : '' };

/** Returns the exit code. */
const suites = (...args) => kubernetes.suites(args, env);

// Most of the time is waiting; but nobody else can work while there is no API server, or a node less.
const alone = 'test/e2e/(api-server|nodes)';
process.exitCode =
  positionals.length > 0
    ? suites('--runInBand', ...positionals)
    : Math.max(
        suites('test/e2e', '--maxWorkers=2', `--testPathIgnorePatterns=${alone}`),
        values.smoke ? 0 : suites('--runInBand', alone),
      );
