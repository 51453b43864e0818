// The bundled plugin: from the sources, the library cannot be loaded beside the agent's modules.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const directory = mkdtempSync(join(tmpdir(), 'render-'));
const program = join(directory, 'kubectl-etcd');
beforeAll(() => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../../../build-plugin.mjs'), program]);
}, 120_000);
afterAll(() => rmSync(directory, { recursive: true }));

const cluster = (spec: string) => `apiVersion: cdk8s-etcd.dev/v1alpha1
kind: EtcdCluster
metadata: { name: orders, namespace: shop }
spec: ${spec}
`;

/** Runs it where there are no packages. */
function render(args: readonly string[], input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'render', ...args], {
    ...{ cwd: directory, input, encoding: 'utf8' },
    env: {},
  });
  return { exit: status, out: stdout, err: stderr };
}

test('prints the manifests, without packages or an API server', () => {
  const file = join(directory, 'orders.yaml');
  writeFileSync(file, cluster('{ size: 3, version: 3.6.16, storage: { size: 20Gi } }'));
  const { exit, out, err } = render([file, '-n', 'other', '--no-reconciler', '--agent-image', 'own/agent:1']);
  expect(exit).toBe(0);
  expect(out).toMatch(/^kind: StatefulSet$/m);
  expect(out).toMatch(/^ {2}namespace: other$/m);
  expect(out).toMatch(/ image: own\/agent:1$/m);
  expect(out).not.toContain('ghcr.io');
  expect(out).not.toMatch(/^kind: Deployment$/m);
  expect(err).toContain('note: EtcdCluster orders');
  expect(render(['-'], cluster('{ size: 3, version: 3.6.16, storage: { size: 20Gi } }')).out).toMatch(
    /^kind: Deployment$/m,
  );
});

test('--crds puts the definitions first', () => {
  const { exit, out } = render(['-', '--crds'], cluster('{ size: 3, version: 3.6.16, storage: { size: 20Gi } }'));
  const kinds = [...out.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind);
  expect({ exit, first: kinds.slice(0, 5) }).toEqual({
    exit: 0,
    first: [...Array<string>(4).fill('CustomResourceDefinition'), 'ServiceAccount'],
  });
});

test('a mistake in the file, and a file that does not exist, end with 2 and no manifests', () => {
  const even = render(['-'], cluster('{ size: 4, version: 3.6.16, storage: { size: 20Gi } }'));
  expect(even).toMatchObject({ exit: 2, out: '', err: expect.stringContaining('size') });
  expect(render(['none.yaml'])).toMatchObject({
    exit: 2,
    out: '',
    err: expect.stringContaining('none.yaml cannot be read (ENOENT)'),
  });
});

test.each(['-', 'pipe'])(
  'a signal ends the reading of %s that goes on',
  async (name) => {
    const file = name === '-' ? name : join(directory, name);
    if (file !== '-') execFileSync('mkfifo', [file]);
    const child = spawn(process.execPath, [program, 'render', file], { stdio: ['pipe', 'ignore', 'ignore'] });
    const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
    const writer = file === '-' ? child.stdin : createWriteStream(file);
    // More than a pipe holds, so it reads when all is written.
    await new Promise((resolve) => writer.write('#'.repeat(1_000_000), resolve));
    child.kill('SIGTERM');
    expect(await Promise.race([ended, sleep(20_000, 'it still runs', { ref: false })])).toBe(130);
    child.kill('SIGKILL');
    writer.on('error', () => {}).destroy();
  },
  30_000,
);
