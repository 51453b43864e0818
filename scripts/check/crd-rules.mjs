// Fails if the API server of the oldest Kubernetes that we support would refuse crds/. It judges by the server's own code, which alone
// knows what rules may cost; test/tools/crd-rules has it. Without Go, the check is left out.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { builtGoTool } from '../lib/go/go-tool.mjs';

const crds = join(import.meta.dirname, '../../crds');
try {
  const program = await builtGoTool('crd-rules');
  const files = readdirSync(crds).map((name) => join(crds, name));
  process.exitCode = spawnSync(program, files, { stdio: 'inherit' }).status ?? 1;
} catch (error) {
  console.error(`left out, because it needs Go 1.26: whether Kubernetes takes the rules of crds/ (${error.message})`);
}
