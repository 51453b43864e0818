// The parts of a release that need no registry. `npm run suite -- release` makes the artifacts.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-release-test-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** Result of an expression that uses exports of a module below scripts/release. */
function evaluated(module: string, expression: string, env: NodeJS.ProcessEnv = process.env) {
  const script = `import * as m from ${JSON.stringify(resolve('scripts/release', module))};
process.stdout.write(JSON.stringify(await (${expression})));`;
  const args = ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', '--input-type=module', '--eval', script];
  return JSON.parse(
    execFileSync(process.execPath, args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'ignore'] }),
  );
}

test('the modules of a Go program, with those that replace others', () => {
  const lines = [
    '/opt/etcd: go1.26.8',
    '\tpath\texample.com/etcd',
    '\tmod\texample.com/etcd\tv3.6.16\th1:abc=',
    '\tdep\texample.com/old\tv1.0.0',
    '\t=>\texample.com/new\tv1.1.0-rc.1\th1:def=',
    '\tdep\texample.com/near\tv0.0.0',
    '\t=>\t../near\t(devel)\t',
    '\tbuild\tCGO_ENABLED=0',
  ];
  const found = evaluated('go-modules.mjs', `m.goModules(${JSON.stringify(lines.join('\n'))})`);
  expect(found.map(({ purl }: { purl: string }) => purl)).toEqual([
    'pkg:golang/std@1.26.8',
    'pkg:golang/example.com/etcd@v3.6.16',
    'pkg:golang/example.com/new@v1.1.0-rc.1',
    'pkg:golang/example.com/near@v0.0.0',
  ]);
});

test('manifests name the image by its digest, everywhere', () => {
  const yaml = 'image: ghcr.io/a/agent:1.0.0\nvalue: ghcr.io/a/agent:1.0.0\nimage: ghcr.io/b/etcd:1.0.0\n';
  const pinned = 'ghcr.io/a/agent:1.0.0@sha256:12';
  expect(
    evaluated('manifests.mjs', `m.pinned(${JSON.stringify(yaml)}, new Map([['ghcr.io/a/agent:1.0.0', 'sha256:12']]))`),
  ).toBe(`image: ${pinned}\nvalue: ${pinned}\nimage: ghcr.io/b/etcd:1.0.0\n`);
});

test('without a builder, the image and what needs it are left out by name, and the rest is made', () => {
  const bin = mkdtempSync(join(directory, 'bin-'));
  symlinkSync(execFileSync('which', ['git'], { encoding: 'utf8' }).trim(), join(bin, 'git'));
  const out = join(directory, 'release');
  const without = ['npm', 'plugin', 'python', 'java', 'go', 'npm-sbom', 'signature'];
  const leftOut: string[] = evaluated(
    'make.mjs',
    `m.makeRelease(${JSON.stringify(out)}, { without: ${JSON.stringify(without)} })`,
    { ...process.env, PATH: bin },
  );
  expect(leftOut).toEqual([
    'npm: by --without',
    'plugin: by --without',
    'python: by --without',
    'java: by --without',
    'go: by --without',
    'image: no docker, podman or buildah works here',
    'manifests: there is no image whose digest they could name',
    'npm-sbom: by --without',
    'image-sbom: there is no image',
    'signature: by --without',
  ]);
  expect(readFileSync(join(out, 'SHA256SUMS'), 'utf8')).toMatch(/^[0-9a-f]{64} {2}provenance\.json\n$/);
});

test('buildah builds one platform after the other, so that each time the list has the same order', () => {
  const bin = mkdtempSync(join(directory, 'bin-'));
  const log = join(bin, 'log');
  const script = `#!${process.execPath}\nrequire('node:fs').appendFileSync(${JSON.stringify(log)}, process.argv.slice(2).join(' ') + '\\n');`;
  writeFileSync(join(bin, 'buildah'), script, { mode: 0o755 });
  const options = "{ platforms: ['linux/amd64', 'linux/arm64'], time: 7, labels: ['a=b'] }";
  const build = `m.buildLayout(m.findBuilder(), '/agent', 'example.com/agent:1', '/out', ${options})`;
  expect(evaluated('../lib/image-builder.mjs', build, { ...process.env, PATH: bin })).toBe(0);
  const lines = readFileSync(log, 'utf8')
    .replace(/release-\d+/g, 'release-1')
    .trimEnd()
    .split('\n');
  expect(lines).toEqual([
    '--version',
    'build --pull=missing --platform=linux/amd64 --label a=b --timestamp=7 --manifest=localhost/cdk8s-etcd-release-1 /agent',
    'build --pull=missing --platform=linux/arm64 --label a=b --timestamp=7 --manifest=localhost/cdk8s-etcd-release-1 /agent',
    'manifest push --all localhost/cdk8s-etcd-release-1 oci:/out:example.com/agent:1',
    'manifest rm localhost/cdk8s-etcd-release-1',
  ]);
});

test.each([
  [[], 'release: this command never publishes; run it with --dry-run'],
  [['--dry-run', '--without', 'wheel'], "release: --without: 'wheel' is not a step; use npm, plugin, python"],
])('the command refuses %j', (args, message) => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/commands/release.mjs', ...args], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(message) });
});
