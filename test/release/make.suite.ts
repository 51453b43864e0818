// How the steps of a release go together: what fails, and what is left out.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evaluated } from '../unit/scripts';

let directory: string;
let out: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-release-make-'));
  out = join(directory, 'release');
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Environment with Git and stand-ins for other programs alone. */
function withPrograms(programs: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const bin = mkdtempSync(join(directory, 'bin-'));
  symlinkSync(execFileSync('which', ['git'], { encoding: 'utf8' }).trim(), join(bin, 'git'));
  for (const [name, body] of Object.entries(programs))
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return { ...process.env, PATH: bin, TMPDIR: directory, CDK8S_ETCD_CACHE: join(directory, 'cache') };
}

/** Returns what was left out, or the message of the failure. */
const made = (options: object, env = withPrograms({})) =>
  evaluated(
    'release/make.mjs',
    `m.makeRelease(${JSON.stringify(out)}, ${JSON.stringify(options)}).catch(({ message }) => message)`,
    env,
  );
const provenance = () => JSON.parse(readFileSync(join(out, 'provenance.json'), 'utf8'));

test('a program that fails is the failure of its step, and no directory is left', () => {
  expect(made({ only: ['npm'] }, withPrograms({ tsc: 'exit 3' }))).toBe(
    'npm: a program of this step ended with 3; the lines above say why',
  );
  expect(readdirSync(directory).filter((name) => name.startsWith('cdk8s-etcd-'))).toEqual([]);
});

test('the provenance names what was left out, and then nothing is signed', () => {
  const without = ['version', 'npm', 'plugin', 'python', 'java', 'go', 'image', 'npm-sbom'];
  const leftOut: string[] = made({ without });
  expect(leftOut.slice(-2)).toEqual([
    'image-sbom: there is no image',
    'signature: not everything was made, so nothing is signed; `--only signature` tries it',
  ]);
  const names = leftOut.slice(0, -1).map((line) => line.split(':')[0]);
  expect(provenance().buildDefinition.internalParameters.leftOut).toEqual(names);
  expect(made({ only: ['image', 'signature'] }).at(-1)).toMatch(/^signature: no cosign: /);
});

test('a step that does not make all its artifacts has failed', () => {
  const env = withPrograms({ python3: 'exit 0' });
  expect(made({ only: ['python'] }, { ...env, PATH: `${env.PATH}:${process.env.PATH}` })).toMatch(
    /^python: made no cdk8s_etcd-\S+-py3-none-any\.whl$/,
  );
}, 120_000);

test('the images have a bundle of their own, because the suites put programs into agent/lib', () => {
  const log = join(directory, 'log');
  const buildah = `[ "$1" = --version ] || { for last; do :; done; echo "$last"/.[!.]* "$last"/* "$last"/lib/bin/etcd* >${log}; exit 1; }`;
  expect(made({ only: ['image'] }, withPrograms({ buildah }))).toMatch(/^image: buildah could not build /);
  const context = readFileSync(log, 'utf8')
    .trimEnd()
    .replaceAll(/\S+\/context\//g, '')
    .split(' ');
  expect(context).toEqual(['.dockerignore', 'Dockerfile', 'lib', 'lib/bin/etcd-agent.mjs']);
}, 120_000);

test('prereleases have other names in Python', () => {
  const names = (version: string) => evaluated('release/artifacts.mjs', `m.artifactsOf('python', '${version}')`);
  expect(['1.2.0', '1.2.0-alpha.3', '1.2.0-rc.1'].flatMap(names)).toEqual([
    'cdk8s_etcd-1.2.0-py3-none-any.whl',
    'cdk8s_etcd-1.2.0a3-py3-none-any.whl',
    'cdk8s_etcd-1.2.0rc1-py3-none-any.whl',
  ]);
});

test('what other steps have not made is left out of the provenance', () => {
  expect(made({ only: ['provenance'] })).toEqual([]);
  expect(provenance().buildDefinition.internalParameters.leftOut).toEqual([
    'npm',
    'plugin',
    'python',
    'java',
    'go',
    'image',
    'manifests',
    'npm-sbom',
    'image-sbom',
  ]);
});

test.each([
  ['python', { python3: 'echo No module named pip >&2; exit 1' }, 'python3 -m pip --version: No module named pip'],
  ['java', { mvn: 'echo JAVA_HOME is not defined >&2; exit 1' }, 'mvn --version: JAVA_HOME is not defined'],
  ['java', {}, 'no mvn on the PATH'],
])('%s is left out with %j', (step, programs, reason) => {
  expect(made({ only: [step] }, withPrograms(programs as Record<string, string>))).toEqual([`${step}: ${reason}`]);
});

test('a step that is left out keeps its earlier files, and the signatures of them', () => {
  const files = ['SHA256SUMS', 'SHA256SUMS.sigstore.json', 'dist/etcd-cluster.k8s.yaml'];
  mkdirSync(join(out, 'dist'), { recursive: true });
  for (const name of files) writeFileSync(join(out, name), name);
  expect(made({ only: ['manifests'] })).toEqual(['manifests: there is no image; add --only image']);
  for (const name of files) expect(readFileSync(join(out, name), 'utf8')).toBe(name);
});

test('a step that makes files leaves no sums of the earlier ones, and no signatures', () => {
  mkdirSync(out);
  for (const name of ['SHA256SUMS', 'provenance.sigstore.json', 'a.tgz']) writeFileSync(join(out, name), name);
  expect(made({ only: ['provenance'] })).toEqual([]);
  expect(readdirSync(out)).toEqual(['a.tgz', 'provenance.json']);
});

test('nothing is signed whose sum is another', () => {
  made({ only: ['provenance', 'checksums'] });
  writeFileSync(join(out, 'provenance.json'), '{}');
  expect(made({ only: ['signature'] })).toBe('signature: provenance.json: is not the file that SHA256SUMS lists');
  rmSync(join(out, 'SHA256SUMS'));
  expect(made({ only: ['signature'] })).toBe('signature: there is no SHA256SUMS; make the release first');
});

test('a release that fails leaves the earlier one as it was', () => {
  mkdirSync(out);
  for (const name of ['SHA256SUMS', 'cdk8s-etcd-0.0.9.tgz']) writeFileSync(join(out, name), name);
  expect(made({ without: ['version'] }, withPrograms({ tsc: 'exit 3' }))).toMatch(/^npm: /);
  expect(readdirSync(out)).toEqual(['SHA256SUMS', 'cdk8s-etcd-0.0.9.tgz']);
  expect(readdirSync(directory).filter((name) => /unfinished|lock/.test(name))).toEqual([]);
});

test('sums that are made again leave no signature of the earlier ones', () => {
  mkdirSync(out);
  for (const name of ['SHA256SUMS.sigstore.json', 'provenance.json']) writeFileSync(join(out, name), name);
  expect(made({ only: ['checksums'] })).toEqual([]);
  expect(readdirSync(out)).toEqual(['SHA256SUMS', 'provenance.json']);
});

test('the archive of the manifests unpacks into dist/, as the guides name it', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const digests = ['agent', 'member'].map((name) => [`ghcr.io/cdk8s-etcd/${name}:${version}`, 'sha256:12']);
  const at = (...names: string[]) => join(directory, ...names);
  const release = `{ version: '${version}', time: 7, digests: new Map(${JSON.stringify(digests)}),
    file: (...names) => [${JSON.stringify(at('release'))}, ...names].join('/') }`;
  mkdirSync(at('release/dist'), { recursive: true });
  writeFileSync(at('release/dist/earlier.k8s.yaml'), '');
  evaluated('release/manifests.mjs', `m.manifests(${release}).then(() => 0)`);
  const list = execFileSync('tar', ['-tzf', at('release', `dist-v${version}.tar.gz`)], { encoding: 'utf8' });
  expect(list.trimEnd().split('\n')).toContain('dist/etcd-cluster.k8s.yaml');
  expect(list.trimEnd()).not.toMatch(/^(?!dist\/)|earlier/m);
});
