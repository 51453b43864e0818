// What ships is complete, has its licenses, and can be read, whatever the umask.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { evaluated } from '../unit/scripts';

const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-shipped-'));
const at = (...names: string[]) => join(directory, ...names);
const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const modeOf = (...names: string[]) => statSync(at(...names)).mode & 0o777;
afterAll(() => rmSync(directory, { recursive: true }));

/** Runs a command in a shell that lets nobody else read what it creates. */
const privately = (command: string, ...args: string[]) =>
  execFileSync('sh', ['-c', `umask 077; ${command}`, 'sh', ...args], { encoding: 'utf8', stdio: 'pipe' });

beforeAll(() => {
  mkdirSync(at('plugin'));
  privately('exec "$@"', process.execPath, resolve('agent/build.mjs'), at('agent'));
  privately('exec "$@"', process.execPath, resolve('agent/build-plugin.mjs'), at('plugin/kubectl-etcd'));
  const file = `() => ${JSON.stringify(at('sbom.json'))}`;
  const release = `{ version: '1', isoTime: 'now', environment: process.env, file: ${file} }`;
  evaluated('release/sbom.mjs', `m.npmSbom(${release}).then(() => 0)`);
}, 300_000);

const inSbom = () => json(at('sbom.json')).components.map((each: { 'bom-ref': string }) => each['bom-ref']) as string[];
const noticesOf = (folder: string) => readFileSync(at(folder, 'THIRD_PARTY_LICENSES'), 'utf8');
const namedBy = (notices: string) =>
  [...notices.matchAll(/^(\S+) (\d+\.\d+\.\d\S*) \((.+)\)$/gm)].map(([, name, version, license]) => ({
    ref: `${name}@${version}`,
    license: license!,
  }));

function manifestOf(name: string, from: string): string | undefined {
  const manifest = join(from, 'node_modules', name, 'package.json');
  if (statSync(manifest, { throwIfNoEntry: false })) return manifest;
  return from === '.' ? undefined : manifestOf(name, dirname(from));
}

test('the SBOM has each dependency of the agent and of the library, and theirs, and nothing of the development', () => {
  const needed = new Map<string, string>();
  const visit = (names: string[], from: string) => {
    for (const name of names) {
      const manifest = manifestOf(name, from);
      if (!manifest || needed.has(manifest)) continue;
      const { version, dependencies = {} } = json(manifest);
      needed.set(manifest, `${name}@${version}`);
      visit(Object.keys(dependencies), dirname(manifest));
    }
  };
  visit(Object.keys(json('agent/package.json').dependencies), 'agent');
  visit(Object.keys(json('package.json').peerDependencies), '.');
  const names = [...needed.values()].map((ref) => ref.replace(/@[^@]*$/, ''));
  expect(names).toEqual(expect.arrayContaining(['zod', 'tsyringe', 'tslib', 'cdk8s']));
  expect(inSbom()).toEqual(expect.arrayContaining([...needed.values()]));
  const development = ['vitest', 'typescript', 'esbuild', 'cdk8s-cli'];
  expect(inSbom().filter((ref) => development.includes(ref.split('@')[0]!))).toEqual([]);
});

test.each(['agent', 'plugin'])('each package in the bundle of the %s is in the SBOM, and has its license', (folder) => {
  const refs = namedBy(noticesOf(folder)).map(({ ref }) => ref);
  expect(refs.length).toBeGreaterThan(30);
  expect(inSbom()).toEqual(expect.arrayContaining(refs));
  const mine = noticesOf(folder)
    .split(/^-{80}$/m)
    .filter((section) => /^(tslib|constructs) /m.test(section));
  expect(mine[0]).toMatch(/Copyright|Apache License/);
});

test('the label of the image names the license of each of them', () => {
  const [, label] = /image\.licenses="(.+)"/.exec(readFileSync('agent/Dockerfile', 'utf8'))!;
  const licenses = namedBy(noticesOf('agent')).map(({ license }) => license);
  expect(label!.split(' AND ')).toEqual(expect.arrayContaining([...licenses, 'Apache-2.0', 'LGPL-2.1-or-later']));
});

test('everyone can read the bundle of the agent, and run it', () => {
  const paths = readdirSync(at('agent'), { recursive: true, encoding: 'utf8' });
  const executable = /^(bin|proto|bin\/etcd-agent\.mjs)$/;
  expect(paths.filter((path) => modeOf('agent', path) !== (executable.test(path) ? 0o755 : 0o644))).toEqual([]);
  expect(modeOf('agent')).toBe(0o755);
});

test('the image has the licenses of its base, in folders that everyone can read, and a release checks that', () => {
  const libraries = ['dl.so.2', 'stdc++.so.6', 'm.so.6', 'gcc_s.so.1', 'pthread.so.0', 'c.so.6'];
  const files = [
    ...['usr/local/bin/node', 'usr/local/LICENSE'],
    ...['libc6', 'libgcc-s1', 'libstdc++6'].map((name) => `usr/share/doc/${name}/copyright`),
    ...libraries.map((name) => `lib/x86_64-linux-gnu/lib${name}`),
  ];
  for (const name of files) {
    mkdirSync(dirname(at('base', name)), { recursive: true });
    writeFileSync(at('base', name), name);
  }
  const [, run] = /^RUN (set -eu;(?:.*\\\n)+.*)$/m.exec(readFileSync('agent/Dockerfile', 'utf8'))!;
  privately(run!.replace(/(?<= )\/(?=base|image)/g, `${directory}/`));
  const names = ['THIRD_PARTY_LICENSES', 'etcd', 'etcd-agent', 'libc6', 'libgcc-s1', 'libstdc++6', 'node'];
  expect(readdirSync(at('image/licenses')).sort()).toEqual(names);
  expect(readFileSync(at('image/licenses/node'), 'utf8')).toBe('usr/local/LICENSE');
  for (const name of ['image', 'image/licenses', 'image/usr/local/bin']) expect(modeOf(name)).toBe(0o755);
  expect(modeOf('image/licenses/node')).toBe(0o644);
  const lacking = () => evaluated('release/sbom.mjs', `m.licensesLackingIn(${JSON.stringify(at('image'))})`);
  expect(lacking()).toEqual([]);
  rmSync(at('image/licenses/libc6'));
  expect(lacking()).toEqual(['libc6']);
});
