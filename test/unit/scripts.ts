import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

/** Result of an expression that uses exports of a module below scripts, as `m`. */
export function evaluated(module: string, expression: string, env: NodeJS.ProcessEnv = process.env) {
  const script = `import * as m from ${JSON.stringify(resolve('scripts', module))};
process.stdout.write(JSON.stringify(await (${expression})));`;
  const args = ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', '--input-type=module', '--eval', script];
  return JSON.parse(
    execFileSync(process.execPath, args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'ignore'] }),
  );
}
