import { join } from 'node:path';
import { build } from 'esbuild';

/** Prints client-pod.mts as one file, for a pod that has nothing but Node. */
const { outputFiles } = await build({
  entryPoints: [join(import.meta.dirname, 'client-pod.mts')],
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
  target: 'node24',
});
process.stdout.write(outputFiles[0]!.contents);
