// `npm run agent -- COMMAND`: runs the agent from this checkout, with an etcdutl of the cache after those on the PATH.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { cacheDirectory } from '../lib/cache.mjs';
import { bundle, root } from '../lib/steps.mjs';

bundle();

const etcd = join(cacheDirectory, 'etcd');
const minors = existsSync(etcd) ? readdirSync(etcd).sort().reverse() : [];
const agent = join(root, 'agent/lib/bin/etcd-agent.mjs');
const child = spawn(process.execPath, [agent, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, PATH: [process.env.PATH, ...minors.map((minor) => join(etcd, minor))].join(delimiter) },
});
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
