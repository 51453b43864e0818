// What the workflow signs and publishes, with a stand-in for cosign.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { evaluated } from '../unit/scripts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
/** What SHA256SUMS of a whole release lists. */
const names: string[] = evaluated('release/artifacts.mjs', `m.listedArtifacts('${version}')`);
const tarball = `cdk8s-etcd-${version}.tgz`;
const homepage = 'https://github.com/cdk8s-etcd/cdk8s-etcd';

let folder: string;
let bin: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-sign-'));
  bin = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-bin-'));
  standIn('exit 0');
  names.forEach(add);
  provenance({});
});
afterEach(() => {
  for (const each of [folder, bin]) rmSync(each, { recursive: true });
});

const standIn = (body: string) =>
  writeFileSync(join(bin, 'cosign'), `#!/bin/sh\necho "$@" >> ${bin}/log\n${body}\n`, { mode: 0o755 });

function add(name: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), name);
}

/** Writes the provenance and SHA256SUMS, as the job `make` does. */
function provenance({ of = version, from = commit, changes = false, leftOut = [] as string[], listed = names }) {
  const predicate = {
    buildDefinition: {
      externalParameters: { version: of },
      internalParameters: { uncommittedChanges: changes, leftOut },
      resolvedDependencies: [{ uri: `git+${homepage}.git`, digest: { gitCommit: from } }],
    },
    runDetails: { builder: { id: `${homepage}/.github/workflows/release.yml` } },
  };
  writeFileSync(join(folder, 'provenance.json'), JSON.stringify(predicate));
  const line = (name: string) =>
    `${createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex')}  ${name}\n`;
  writeFileSync(join(folder, 'SHA256SUMS'), listed.map(line).join(''));
}

function run(script: 'sign' | 'verify') {
  const env = { PATH: `${bin}:/usr/bin:/bin` };
  const { status, stderr } = spawnSync(process.execPath, [`scripts/release/${script}.mjs`, folder], {
    env,
    encoding: 'utf8',
  });
  const log = join(bin, 'log');
  const calls = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().replaceAll(folder, '').split('\n') : [];
  return { status, stderr, calls };
}

const proof = `--certificate-identity=${homepage}/.github/workflows/sign.yml@refs/tags/v${version} --certificate-oidc-issuer=https://token.actions.githubusercontent.com`;
const verified = [
  `verify-blob ${proof} --bundle=/SHA256SUMS.sigstore.json /SHA256SUMS`,
  `verify-blob-attestation ${proof} --type=slsaprovenance1 --bundle=/provenance.sigstore.json /SHA256SUMS`,
];

test('the workflow signs what was made elsewhere, with its identity and cosign alone', () => {
  expect(run('sign')).toMatchObject({
    status: 0,
    calls: [
      'sign-blob --yes --bundle=/SHA256SUMS.sigstore.json /SHA256SUMS',
      'attest-blob --yes --predicate=/provenance.json --type=slsaprovenance1 --bundle=/provenance.sigstore.json /SHA256SUMS',
      ...verified,
    ],
  });
});

const foreign: [string, () => void, string][] = [
  ['another commit', () => provenance({ from: 'ab12' }), `provenance.json: gitCommit is ab12, not ${commit}`],
  ['another version', () => provenance({ of: '9.9.9' }), `provenance.json: version is 9.9.9, not ${version}`],
  [
    'uncommitted changes',
    () => provenance({ changes: true }),
    'provenance.json: uncommittedChanges is true, not false',
  ],
  [
    'part of a release',
    () => provenance({ leftOut: ['java', 'go'] }),
    "provenance.json: leftOut is 'java, go', not ''",
  ],
  ['another file', () => add('b.whl'), 'b.whl: is not a file that SHA256SUMS lists'],
  ['another link', () => symlinkSync('/dev/null', join(folder, 'b.whl')), 'b.whl: is not a file that SHA256SUMS lists'],
  ['another folder', () => mkdirSync(join(folder, 'b')), 'b: is not a file that SHA256SUMS lists'],
  [
    'a link in the place of a file',
    () => {
      writeFileSync(join(bin, 'a'), tarball);
      rmSync(join(folder, tarball));
      symlinkSync(join(bin, 'a'), join(folder, tarball));
    },
    `${tarball}: is not a file that SHA256SUMS lists`,
  ],
  [
    'a listed file that no step makes',
    () => {
      add('zz-9.9.9-py3-none-any.whl');
      provenance({ listed: [...names, 'zz-9.9.9-py3-none-any.whl'] });
    },
    `zz-9.9.9-py3-none-any.whl: no step of version ${version} makes it, and SHA256SUMS lists it`,
  ],
  [
    'a release that lacks an artifact',
    () => {
      rmSync(join(folder, tarball));
      provenance({ listed: names.filter((name) => name !== tarball) });
    },
    `${tarball}: SHA256SUMS does not list it`,
  ],
  ['other bytes', () => writeFileSync(join(folder, tarball), 'b'), `${tarball}: is not the file that SHA256SUMS lists`],
  [
    'a file that is not there',
    () => rmSync(join(folder, tarball)),
    `${tarball}: SHA256SUMS lists it, and it is not there`,
  ],
  [
    'a path outside',
    () => appendFileSync(join(folder, 'SHA256SUMS'), `${'0'.repeat(64)}  ../x\n`),
    'is not a sum of a file in release/',
  ],
];

test.each(foreign)('%s is not signed', (_, change, message) => {
  change();
  expect(run('sign')).toEqual({ status: 1, stderr: expect.stringContaining(message), calls: [] });
});

test.each(foreign)('%s is not published', (_, change, message) => {
  change();
  expect(run('verify')).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
});

test('what is signed is published', () => {
  for (const name of ['SHA256SUMS', 'provenance']) writeFileSync(join(folder, `${name}.sigstore.json`), '');
  expect(run('verify')).toMatchObject({ status: 0, calls: verified });
});

test.each(['verify-blob', 'verify-blob-attestation'])('what fails %s is not published', (command) => {
  standIn(`[ "$1" != ${command} ] || { echo 'no matching signatures' >&2; exit 1; }`);
  expect(run('verify')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('verify: no matching signatures'),
  });
});
