import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

/** A script that prints the result of an expression that uses exports of a module below scripts, as `m`. */
export const scriptOf = (module: string, expression: string) =>
  `import * as m from ${JSON.stringify(resolve('scripts', module))};
process.stdout.write(JSON.stringify(await (${expression})));`;

/** Result of such an expression. */
export function evaluated(module: string, expression: string, env: NodeJS.ProcessEnv = process.env) {
  const args = ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', '--input-type=module', '--eval'];
  return JSON.parse(
    execFileSync(process.execPath, [...args, scriptOf(module, expression)], {
      ...{ encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'ignore'] },
    }),
  );
}
