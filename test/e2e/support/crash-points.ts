import { JsonPatch } from 'cdk8s';
import type { Play } from '../watch/play';
import type { Parts } from './member-cluster';
import type { Namespace } from './namespace';

const directory = '/tmp/crashes';
/** Entry point that only the image of these suites contains: agent/test/local/pods/agent-crashing.mts. */
const agent = '/opt/etcd-agent/bin/etcd-agent-crashing.mjs';
const node = '/usr/local/bin/node';

/** Shorter than the defaults: every new reconciler waits and observes by itself before it acts on a loss. */
const times = { lease: 12_000, renew: 8_000, retry: 1_000, stable: 3_000, evidence: 2_000, quorumLost: 10_000 };

/**
 * Restarts the reconciler at once wherever it has ended, like a kubelet but without its growing pauses. Stops to do so
 * once the reconciler has ended at the point `last`.
 */
const supervisor = (last?: string): string => `
  const { spawn } = require('node:child_process');
  const { existsSync, mkdirSync, writeFileSync } = require('node:fs');
  if (!existsSync('${agent}')) throw new Error('the image has no ${agent}; build it with node agent/build.mjs --crashing');
  mkdirSync('${directory}', { recursive: true });
  writeFileSync('/tmp/times.json', '${JSON.stringify(times)}');
  const args = ['${agent}', ...process.argv.slice(1), '--tuning=/tmp/times.json'];
  let child;
  const start = () => {
    child = spawn('${node}', args, { stdio: 'inherit', env: { ...process.env, CRASH_ONCE_DIR: '${directory}' } });
    child.on('exit', (code) => {
      if (code !== 137) process.exit(code ?? 1);
      if (${last === undefined} || !existsSync('${directory}/${encodeURIComponent(last ?? '')}')) return start();
      setInterval(() => {}, 1000);
    });
  };
  process.on('SIGTERM', () => (child.exitCode === null ? child.kill() : process.exit(0)));
  start();`;

/** The reconciler ends once at every point that the code names; with `last`, it then stays away. */
export const crashing =
  (last?: string) =>
  ({ reconciler }: Pick<Parts, 'reconciler'>): void => {
    const path = '/spec/template/spec/containers/0';
    reconciler.deployment.addJsonPatch(
      JsonPatch.add(`${path}/command`, [node, '--eval', supervisor(last), '--']),
      // No reconciler acts while it stays away.
      ...['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => JsonPatch.remove(`${path}/${probe}`)),
    );
  };

/** From now on its reconciler ends at every point. */
export async function crashFromNowOn({ cluster, namespace }: Play, shape: (parts: Parts) => void): Promise<void> {
  cluster.reshape((parts) => {
    crashing()(parts);
    shape(parts);
  });
  await cluster.apply();
  await namespace.ready('deployment', 'etcd-reconciler');
}

/** Points at which it ended so far: `before <row>` and `after <row>`. */
export async function crashes(namespace: Namespace): Promise<string[]> {
  const list = `console.log(JSON.stringify(require('node:fs').readdirSync('${directory}')))`;
  const exec = ['exec', 'deployment/etcd-reconciler', '--', node, '--eval', list];
  const { stdout } = await namespace.kubectl(exec);
  return (JSON.parse(stdout) as string[]).map(decodeURIComponent);
}

/** The reconciler ended before and after each of these. */
export async function crashedAt(namespace: Namespace, ...rows: string[]): Promise<void> {
  const points = rows.flatMap((row) => [`before ${row}`, `after ${row}`]);
  expect(await crashes(namespace)).toEqual(expect.arrayContaining(points));
}

/** A reconciler that has not been killed yet. */
export async function anotherReconciler(namespace: Namespace): Promise<void> {
  await namespace.kubectl(['delete', 'pod', '--selector=app.kubernetes.io/name=etcd-reconciler']);
  await namespace.ready('deployment', 'etcd-reconciler');
}
