// What a release finds that still says otherwise.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Result of an expression that uses exports of scripts/release/version.mjs as `m`. */
function evaluated(expression: string): unknown {
  const script = `import * as m from ${JSON.stringify(resolve('scripts/release/version.mjs'))};
process.stdout.write(JSON.stringify(await (${expression})));`;
  const args = ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', '--input-type=module', '--eval', script];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

const released = {
  'CHANGELOG.md': '# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2027-01-02\n',
  'src/lib/agent-image.ts': 'export const isReleased: boolean = true;\n',
  'agent/package.json': '{ "version": "1.2.0" }',
  'package-lock.json': '{ "packages": { "": { "version": "1.2.0" }, "agent": { "version": "1.2.0" } } }',
  'docs/install.md': 'npm install /tmp/cdk8s-etcd-1.2.0.tgz\nnpm run image -- --tag a/etcd-agent:1.2.0-a\n',
};
const found = (changes: Record<string, string>, version = '1.2.0') => {
  const files = `new Map(Object.entries(${JSON.stringify({ ...released, ...changes })}))`;
  const of = (name: string) => `...m.${name}(${JSON.stringify(version)}, ${files})`;
  return evaluated(`[${of('unreleased')}, ${of('otherVersions')}]`);
};

test('nothing, when everything says this version', () => {
  expect(found({})).toEqual([]);
  expect(found({ 'CHANGELOG.md': '## [1.2.0]\nReleases before it: cdk8s-etcd-1.1.0.tgz' })).toEqual([]);
});

test.each([
  [{ 'CHANGELOG.md': '## Unreleased\n## 1.2.0-rc.1\n## 1.2.01' }, "CHANGELOG.md: no heading '## 1.2.0'"],
  [{ 'src/lib/agent-image.ts': 'export const isReleased: boolean = false;' }, 'src/lib/agent-image.ts: isReleased is'],
  [{ 'agent/package.json': '{ "version": "1.1.0" }' }, 'agent/package.json: has 1.1.0'],
  [{ 'README.md': '\n\ncdk8s-etcd is not released yet: x' }, "README.md:3: says 'is not released'"],
  [{ 'SECURITY.md': 'Nothing is released yet.' }, "SECURITY.md:1: says 'Nothing is released yet'"],
  [{ 'docs/a.md': 'The packages are not published yet.' }, "docs/a.md:1: says 'are not published'"],
  [{ 'docs/a.md': '| [not released](releases/README.md) |' }, "docs/a.md:1: says 'not released]'"],
  [{ 'docs/a.md': 'npm install /tmp/cdk8s-etcd-1.1.0.tgz' }, 'docs/a.md:1: cdk8s-etcd-1.1.0'],
  [{ 'docs/a.md': 'pip install release/cdk8s_etcd-1.1.0-py3-none-any.whl' }, 'docs/a.md:1: cdk8s_etcd-1.1.0'],
  [{ 'docs/a.md': 'io.github.cdk8s-etcd:cdk8s-etcd:1.1.0' }, 'docs/a.md:1: cdk8s-etcd:1.1.0'],
  [{ 'docs/a.md': 'a/etcd-agent:1.2.1-a' }, 'docs/a.md:1: etcd-agent:1.2.1'],
  [{ 'docs/a.md': 'ghcr.io/cdk8s-etcd/agent:1.2.0-rc.1' }, 'docs/a.md:1: ghcr.io/cdk8s-etcd/agent:1.2.0-rc.1'],
  [{ 'docs/a.md': 'cosign verify ghcr.io/cdk8s-etcd/$image:1.1.0' }, 'docs/a.md:1: ghcr.io/cdk8s-etcd/$image:1.1.0'],
  [{ 'docs/a.md': 'tar -xzf release/cdk8s-etcd-go-1.1.0.tar.gz' }, 'docs/a.md:1: cdk8s-etcd-go-1.1.0'],
  [{ 'docs/a.md': 'that is released: cdk8s-etcd is not.' }, "docs/a.md:1: says 'cdk8s-etcd is not.'"],
  [{ 'docs/a.md': 'release.yml@refs/tags/v1.1.0' }, 'docs/a.md:1: /tags/v1.1.0'],
  [
    { 'examples/x/Dockerfile': 'ARG A=ghcr.io/cdk8s-etcd/agent:1.1.0' },
    'examples/x/Dockerfile:1: ghcr.io/cdk8s-etcd/agent:1.1.0',
  ],
])('%j', (changes, message) => {
  expect(found(changes as Record<string, string>)).toEqual([expect.stringContaining(message)]);
});

test('a prerelease is a version of its own', () => {
  const other = found({ 'CHANGELOG.md': '## 1.2.0-rc.1' }, '1.2.0-rc.1') as string[];
  expect(other).toContain('docs/install.md:1: cdk8s-etcd-1.2.0');
});

test.each(['1.2.0-rc.1', '1.2.0-alpha.3'])('the files of %s have names of this version', (version) => {
  const files = `['npm', 'plugin', 'python', 'java', 'go'].flatMap((step) => artifactsOf(step, '${version}')).join(' ')`;
  const module = JSON.stringify(resolve('scripts/release/artifacts.mjs'));
  const names = evaluated(`import(${module}).then(({ artifactsOf }) => ${files})`) as string;
  expect(names.split(' ').length).toBeGreaterThan(5);
  const changed = (text: string) => ({ ...released, 'docs/install.md': `${text} a/etcd-agent:${version}-a` });
  const complaints = (of: string) => (found(changed(names), of) as string[]).filter((line) => line.startsWith('docs/'));
  expect(complaints(version)).toEqual([]);
  expect(complaints('1.2.0').length).toBeGreaterThan(5);
});

test('everything here names one version', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(evaluated(`m.otherVersions(${JSON.stringify(version)}, m.committed())`)).toEqual([]);
});

test('a commit that is not of this version is left out, with the reasons', () => {
  const says = evaluated("m.version({ version: '99.0.0' }).catch((error) => [error.constructor.name, error.message])");
  expect(says).toEqual([
    'LeftOut',
    expect.stringMatching(/^this is not the commit of version 99\.0\.0:\n {2}CHANGELOG\.md: no /),
  ]);
});

describe('a version whose tag', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-tag-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a', ...args], { cwd: folder, encoding: 'utf8' }).trim();
  const commitOf = (message: string) => {
    git('commit', '-q', '--allow-empty', '-m', message);
    return git('rev-parse', 'HEAD');
  };
  const refusal = (commit: string, directory = folder, version = '1.2.0') =>
    evaluated(
      `(() => { try { m.refuseOtherTag(${JSON.stringify({ version, commit })}, ${JSON.stringify(directory)}); return '' } catch (error) { return error.message } })()`,
    );

  test('is on another commit is refused', () => {
    git('init', '-q');
    const released = commitOf('1.2.0');
    expect(refusal(released)).toBe('');
    git('tag', '-a', '-m', 'x', 'v1.2.0');
    expect(refusal(released)).toBe('');
    expect(refusal(commitOf('later'))).toContain(`v1.2.0 is the tag of ${released}, not of this commit`);
  });

  test('is on another commit is not the version of this checkout', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    const head = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
    expect(refusal(head, process.cwd(), version)).toBe('');
  });
});
