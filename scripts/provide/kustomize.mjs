// Puts kustomize into the cache: from the PATH, else built from its Go module. Runs on Node 20.
import { goProgram } from '../lib/go/go-program.mjs';
import { say } from '../lib/run.mjs';

try {
  await goProgram('kustomize', 'sigs.k8s.io/kustomize/kustomize/v5', 'a minute or so');
} catch (error) {
  say(`kustomize is missing and cannot be installed here: install Go 1.26 or put it on the PATH (${error.message})`);
  process.exitCode = 2;
}
