import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rendering } from '../../test/rendering';
import { isReleased } from '../lib/agent-image';

const root = join(__dirname, '../..');
const modules = join(root, 'node_modules');
const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-render-'));
const cli = join(directory, 'lib/cli.cjs');
const input = join(directory, 'input.yaml');
const output = join(directory, 'output.yaml');

const metadata = { name: 'orders' };
const resource = { apiVersion: 'cdk8s-etcd.dev/v1alpha1', kind: 'EtcdCluster', metadata, spec: { version: '3.6.16' } };
const yaml = JSON.stringify(resource);
const broken = JSON.stringify({ ...resource, spec: { ...resource.spec, sise: 3 } });

beforeAll(() => {
  const bundle = ['--bundle', '--platform=node', '--packages=external', '--log-level=warning'];
  execFileSync(join(modules, '.bin/esbuild'), [join(root, 'src/cli.ts'), `--outfile=${cli}`, ...bundle]);
  // As in the package, beside the code.
  cpSync(join(root, 'crds'), join(directory, 'crds'), { recursive: true });
  writeFileSync(input, yaml);
});

afterAll(() => rmSync(directory, { recursive: true }));

function run(args: string[], stdin = '') {
  const env = { ...process.env, NODE_PATH: modules };
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
    input: stdin,
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr: stderr.split('\n').filter(Boolean) };
}

const expected = rendering([resource]);

test('a file to standard output, notes apart from it', () => {
  const { status, stdout, stderr } = run(['render', input]);
  expect(status).toBe(0);
  expect(stdout.split('\n---\n')).toHaveLength(expected.manifests.length);
  expect(stdout).toMatch(/^apiVersion: /);
  expect(stderr).toEqual([...expected.lines, ...expected.unreleased]);
  const note = expect.stringMatching(
    /^note: ghcr\.io\S+ and ghcr\.io\S+ were never released.* name it with --agent-image \(/,
  );
  expect(expected.unreleased).toEqual(isReleased ? [] : [note]);
});

test('standard input to a file, with every option', () => {
  const options = ['--crds', '--no-reconciler', '--registry=mirror.example.com', '-n', 'shop'];
  expect(run(['render', '-', '-o', output, ...options], yaml)).toMatchObject({ status: 0, stdout: '' });
  const written = readFileSync(output, 'utf8');
  expect(written).toMatch(/^kind: CustomResourceDefinition$/m);
  expect(written).not.toMatch(/^kind: Deployment$/m);
  expect(written).toMatch(/image: mirror\.example\.com\/etcd-development\/etcd:v3\.6\.16$/m);
  expect(written).toMatch(/^ {2}namespace: shop$/m);
});

test('the resources instead of their manifests', () => {
  const { status, stdout } = run(['render', input, '--resources', '-n', 'shop']);
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout:
      'apiVersion: cdk8s-etcd.dev/v1alpha1\nkind: EtcdCluster\nmetadata:\n  name: orders\n  namespace: shop\nspec:\n  version: 3.6.16\n',
  });
  expect(run(['render', input, '--resources', '--registry=mirror.example.com'])).toEqual({
    status: 2,
    stdout: '',
    stderr: ['error: --registry: has no effect with --resources; give it when you render the resources'],
  });
});

test('an own image of the agent is everywhere, and no note says that it was never released', () => {
  const { status, stdout, stderr } = run(['render', input, '--agent-image', 'registry.example.com/agent:1']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: [...expected.lines] });
  expect(stdout).toMatch(/image: registry\.example\.com\/agent:1$/m);
  expect(stdout).not.toContain('ghcr.io');
});

test('help', () => {
  expect(run(['--help'])).toMatchObject({ status: 0, stderr: [] });
  expect(run(['render', '--help']).stdout).toMatch(/^Usage: cdk8s-etcd render FILE/);
});

test('the version is that of the package', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(run(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: [] });
});

test.each<[string, string[], string]>([
  ['no command', [], "error: write 'cdk8s-etcd render FILE'; --help shows more"],
  ['no file', ['render'], "error: write 'cdk8s-etcd render FILE'; --help shows more"],
  ['an unknown option', ['render', input, '--crd'], "error: Unknown option '--crd'; --help shows the options"],
  ['a file that is not there', ['render', 'nowhere.yaml'], 'error: nowhere.yaml: cannot be read (ENOENT)'],
  ['a directory to write', ['render', input, '-o', directory], `error: ${directory}: cannot be written (EISDIR)`],
  [
    'the input as output',
    ['render', input, '-o', input],
    `error: ${input}: is also the input; give another file for --output`,
  ],
  [
    'a namespace that cannot be',
    ['render', input, '-n', 'Shop'],
    "error: EtcdCluster orders (document 1): metadata.namespace: 'Shop' is not a valid namespace; use up to 63 lower-case letters, digits and '-', beginning and ending with a letter or digit",
  ],
])('%s is one line and exit code 2', (_, args, line) => {
  expect(run(args)).toEqual({ status: 2, stdout: '', stderr: [line] });
});

test('with a mistake in the input nothing is written', () => {
  writeFileSync(output, 'before');
  expect(run(['render', '-', '-o', output], broken)).toEqual({
    status: 2,
    stdout: '',
    stderr: ['error: EtcdCluster orders (document 1): spec.sise: is not a field: write size, or remove it'],
  });
  expect(readFileSync(output, 'utf8')).toBe('before');
  expect(readFileSync(input, 'utf8')).toBe(yaml);
});

test('a bug is exit code 1, with where it is', () => {
  const crds = join(directory, 'crds');
  rmSync(crds, { recursive: true });
  const { status, stdout, stderr } = run(['render', input, '--crds']);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr.filter((line) => line.startsWith('    at ')).length).toBeGreaterThan(0);
});
