// What the workflow of a release types, with stand-ins for the registries: it can be run again, and it replaces nothing.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
}
interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly environment?: string;
  readonly uses?: string;
  readonly steps?: readonly Step[];
}

const folderOfWorkflows = '.github/workflows';
const text = (name: string) => readFileSync(join(folderOfWorkflows, name), 'utf8');
const jobsOf = (name: string) => (parse(text(name)) as { jobs: Record<string, Job> }).jobs;
const called = { ...jobsOf('sign.yml'), ...jobsOf('images.yml') };
const caller = jobsOf('release.yml');
/** With the steps of the workflows that are called. */
const jobs: Record<string, Job> = { ...caller, ...called };
const stepsOf = (name: string) => jobs[name]!.steps ?? [];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'release-workflow-'));
  mkdirSync(join(folder, 'release'));
  mkdirSync(join(folder, 'bin'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function standIn(name: string, body: string): void {
  const path = join(folder, 'bin', name);
  writeFileSync(path, `#!/usr/bin/env bash\necho "${name} $*" >> "${folder}/calls"\n${body}\n`);
  chmodSync(path, 0o755);
}

/** Runs a step as GitHub does. Returns also what it called, without questions. */
function run(job: string, name: string, env: Readonly<Record<string, string>> = {}) {
  const step = stepsOf(job).find((each) => each.name === name)!;
  const { status, stdout } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run!], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...{ PATH: `${folder}/bin:${process.env.PATH}`, TAG: 'v1.2.0', TOKEN: 't', ACTOR: 'a' },
      ...{ GITHUB_OUTPUT: join(folder, 'output'), ...env },
    },
  });
  const read = (file: string) =>
    existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8').trim() : '';
  const calls = read('calls').split('\n');
  return {
    status,
    stdout,
    output: read('output'),
    calls: calls.filter((line) => line && !/ (view|inspect|login|--silent) /.test(line)),
  };
}

const sum = (text: string, algorithm = 'sha256') => createHash(algorithm).update(text);

test('each action is the commit of a version', () => {
  const used = readdirSync(folderOfWorkflows).flatMap((name) => text(name).match(/\buses: .*/g) ?? []);
  expect(used.length).toBeGreaterThan(20);
  const pinned = /^uses: (?:\.\/\.github\/workflows\/[a-z]+\.yml|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/;
  expect(used.filter((line) => !pinned.test(line))).toEqual([]);
});

const read = { contents: 'read' };
const identity = { ...read, 'id-token': 'write' };
const permissions = {
  sign: identity,
  images: { ...identity, packages: 'write' },
  npm: identity,
  pypi: identity,
  github: { contents: 'write' },
};

test('each job may do one thing only', () => {
  const given = Object.entries(caller).map(([name, job]) => [name, job.permissions]);
  expect(Object.fromEntries(given)).toEqual({ make: undefined, ...permissions });
  for (const name of ['sign', 'images'] as const) expect(called[name]!.permissions).toEqual(permissions[name]);
  for (const name of readdirSync(folderOfWorkflows)) expect(parse(text(name)).permissions).toEqual(read);
});

test('no job with an identity installs a package, and a file of its own has the one that signs', () => {
  const typed = Object.keys(permissions).flatMap((name) => stepsOf(name).map((step) => step.run ?? ''));
  expect(typed.filter((line) => /npm (ci|install|run|test|exec)|\bnpx\b|\bgo (run|build)|\bpip\b/.test(line))).toEqual(
    [],
  );
  expect([caller.sign!.uses, caller.images!.uses]).toEqual([
    './.github/workflows/sign.yml',
    './.github/workflows/images.yml',
  ]);
});

test.each(['images', 'npm', 'pypi', 'github'])('%s verifies what it publishes first', (name) => {
  const [first] = stepsOf(name).filter((step) => step.run);
  expect(first!.run).toBe('node scripts/release/verify.mjs');
});

test('a person approves what cannot be undone', () => {
  expect(['images', 'npm', 'pypi'].map((name) => jobs[name]!.environment)).toEqual(Array(3).fill('release'));
});

test('tests and other languages come before the artifacts', () => {
  const typed = stepsOf('make').flatMap((step) => step.run?.trim().split('\n')[0] ?? []);
  expect(typed.slice(-4)).toEqual([
    'npm run check',
    'npm test',
    'npm run suite -- languages python java go',
    'npm run release -- --dry-run --keyless',
  ]);
});

describe('the commit', () => {
  const step = 'The commit is on main, or on the branch of an older line';
  const git = (...args: string[]) =>
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a', ...args], { cwd: folder });

  test.each([
    ['main', 0],
    ['release-1.1', 0],
    ['feature', 1],
  ])('on %s ends with %d', (branch, status) => {
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'first');
    git('update-ref', 'refs/remotes/origin/main', 'HEAD');
    git('commit', '-q', '--allow-empty', '-m', 'second');
    git('update-ref', `refs/remotes/origin/${branch}`, 'HEAD');
    expect(run('make', step)).toMatchObject({
      status,
      stdout: status ? expect.stringContaining('neither on main') : '',
    });
  });
});

describe('the tags of the images', () => {
  const step = 'No tag of an image has other contents';
  const outcome = (registry: string) => {
    const answer = `case "$3" in oci-archive:*) echo "index of $3";; *) ${registry};; esac`;
    standIn('skopeo', `if [ "$1" = login ]; then cat >/dev/null; else ${answer}; fi`);
    return run('images', step);
  };
  const archive = (name: string) => sum(`index of oci-archive:release/etcd-${name}-1.2.0.oci.tar\n`).digest('hex');
  const digests = ['agent', 'member'].map((name) => `${name}=ghcr.io/cdk8s-etcd/${name}@sha256:${archive(name)}`);

  test.each(['manifest unknown', 'name unknown', 'reading manifest: denied'])(
    'that are not there (%s) are free',
    (words) => {
      expect(outcome(`echo "${words}" >&2; exit 1`)).toMatchObject({ status: 0, output: digests.join('\n') });
    },
  );

  test('with the same contents are those of an earlier run', () => {
    const same = 'echo "index of oci-archive:release/etcd-$(basename "$3" | tr : -).oci.tar"';
    expect(outcome(same)).toMatchObject({ status: 0, output: digests.join('\n') });
  });

  test('with other contents are not overwritten', () => {
    const { status, stdout } = outcome('echo other');
    expect({ status, stdout }).toEqual({
      status: 1,
      stdout: expect.stringContaining('agent:1.2.0 is already sha256:'),
    });
  });

  test.each(['502 Bad Gateway', 'auth.json: permission denied'])('are not free after %s', (words) => {
    expect(outcome(`echo "${words}" >&2; exit 1`)).toMatchObject({ status: 1, output: '' });
  });
});

describe('npm', () => {
  const publish = (tag: string, integrity: string, latest = '1.1.0') => {
    writeFileSync(join(folder, `release/cdk8s-etcd-${tag.slice(1)}.tgz`), 'tarball');
    const answer = (words: string) =>
      /^E\d|^network/.test(words) ? `echo "npm error code ${words}" >&2; exit 1` : `echo "${words}"`;
    const of = (words: string) => answer(words || 'E404');
    standIn('npm', `case "$3" in dist.integrity) ${of(integrity)};; dist-tags.latest) ${of(latest)};; esac`);
    return run('npm', 'npm', { TAG: tag });
  };
  const ours = `sha512-${sum('tarball', 'sha512').digest('base64')}`;

  test.each([
    ['v1.2.0', '1.1.0', 'latest'],
    ['v1.10.0', '1.9.0', 'latest'],
    ['v1.2.0', '', 'latest'],
    ['v1.2.0', '1.2.0-rc.1', 'latest'],
    ['v1.2.0-rc.1', '1.1.0', 'next'],
    ['v1.0.5', '1.1.0', 'release-1.0'],
  ])('%s after %s is %s', (tag, latest, name) => {
    const call = `npm publish --provenance --access public --tag ${name} ./release/cdk8s-etcd-${tag.slice(1)}.tgz`;
    expect(publish(tag, '', latest)).toMatchObject({ status: 0, calls: [call] });
  });

  test('what an earlier run published is not published again', () => {
    expect(publish('v1.2.0', ours)).toMatchObject({ status: 0, calls: [] });
  });

  test.each([
    ['E503', '1.1.0'],
    ['network', '1.1.0'],
    ['', 'E503'],
  ])('after the answers "%s" and "%s" nothing is published', (integrity, latest) => {
    expect(publish('v1.0.5', integrity, latest)).toMatchObject({ status: 1, calls: [] });
  });

  test('another file of this version is an error', () => {
    const { status, stdout, calls } = publish('v1.2.0', 'sha512-other');
    expect({ status, stdout, calls }).toEqual({
      status: 1,
      stdout: expect.stringContaining('another cdk8s-etcd@1.2.0'),
      calls: [],
    });
  });
});

const wheel = 'cdk8s_etcd-1.2.0-py3-none-any.whl';
const wheels = (sha256: string, filename = wheel) => JSON.stringify({ urls: [{ filename, digests: { sha256 } }] });

test.each([
  [404, '{"message":"Not Found"}', 0, 'absent=true'],
  [200, wheels('00', 'another.whl'), 0, 'absent=true'],
  [200, wheels(sum('wheel').digest('hex')), 0, ''],
  [200, wheels('00'), 1, ''],
  [503, '<html>', 1, ''],
])('PyPI with %d and %s: the wheel ends with %d', (code, answer, status, output) => {
  writeFileSync(join(folder, 'release', wheel), 'wheel');
  standIn('curl', `echo '${answer}' >answer; printf ${code}`);
  expect(run('pypi', 'The wheel, alone in its folder')).toMatchObject({ status, output });
});

test('only the wheel of this version goes to PyPI, under the name that Python gives it', () => {
  const ours = 'cdk8s_etcd-1.2.0rc1-py3-none-any.whl';
  for (const name of [ours, 'zz-9.9.9-py3-none-any.whl']) writeFileSync(join(folder, 'release', name), 'wheel');
  standIn('curl', `echo '{"message":"Not Found"}' >answer; printf 404`);
  const { status } = run('pypi', 'The wheel, alone in its folder', { TAG: 'v1.2.0-rc.1' });
  expect([status, readdirSync(join(folder, 'wheel'))]).toEqual([0, [ours]]);
});

test('PyPI that does not answer is not PyPI without the wheel', () => {
  writeFileSync(join(folder, 'release', wheel), 'wheel');
  standIn('curl', 'printf 000; exit 7');
  const { status, output } = run('pypi', 'The wheel, alone in its folder');
  expect({ failed: status !== 0, output }).toEqual({ failed: true, output: '' });
});

test.each([
  ['not found', 'v1.2.0', ['create v1.2.0 --draft --verify-tag --prerelease=false', 'upload v1.2.0 --clobber']],
  [
    'not found',
    'v1.2.0-rc.1',
    ['create v1.2.0-rc.1 --draft --verify-tag --prerelease=true', 'upload v1.2.0-rc.1 --clobber'],
  ],
  ['true', 'v1.2.0', ['upload v1.2.0 --clobber']],
  ['false', 'v1.2.0', []],
  ['HTTP 502', 'v1.2.0', undefined],
])('when GitHub answers with `%s` about %s, the draft is made or used again', (answer, tag, wanted) => {
  writeFileSync(join(folder, 'release/SHA256SUMS'), '');
  const says = /^(true|false)$/.test(answer) ? `echo ${answer}` : `{ echo 'release ${answer}' >&2; exit 1; }`;
  standIn('gh', `[ "$2" != view ] || ${says}`);
  const { status, calls } = run('github', 'A draft of the release on GitHub', { TAG: tag });
  expect(calls).toEqual((wanted ?? []).map((each) => expect.stringContaining(`gh release ${each}`)));
  expect(status).toBe(wanted ? 0 : 1);
});

test('an image that only we can pull stops the draft, and says what to do', () => {
  standIn('skopeo', 'exit 1');
  const names = { AGENT: 'ghcr.io/cdk8s-etcd/agent@sha256:1', MEMBER: 'ghcr.io/cdk8s-etcd/member@sha256:2' };
  const { status, stdout } = run('images', 'Everyone can pull them', names);
  expect({ status, stdout }).toEqual({ status: 1, stdout: expect.stringContaining('make the package agent public') });
});

test('an image is pushed as its archive has it, and its signature is verified', () => {
  const names = { AGENT: 'ghcr.io/cdk8s-etcd/agent@sha256:1', MEMBER: 'ghcr.io/cdk8s-etcd/member@sha256:2' };
  standIn('skopeo', '');
  standIn('cosign', '[ "$1" != login ] || cat >/dev/null');
  const { status, calls } = run('images', 'The images, as their archives have them', {
    ...names,
    ...{ GITHUB_REPOSITORY: 'cdk8s-etcd/cdk8s-etcd', GITHUB_REF: 'refs/tags/v1.2.0' },
  });
  expect(status).toBe(0);
  const identity =
    '--certificate-identity https://github.com/cdk8s-etcd/cdk8s-etcd/.github/workflows/images.yml@refs/tags/v1.2.0';
  const of = (name: string, image: string) => [
    `skopeo copy --all --preserve-digests oci-archive:release/etcd-${name}-1.2.0.oci.tar docker://ghcr.io/cdk8s-etcd/${name}:1.2.0`,
    `cosign sign --yes ${image}`,
    `cosign verify ${image} ${identity} --certificate-oidc-issuer https://token.actions.githubusercontent.com`,
  ];
  expect(calls).toEqual([...of('agent', names.AGENT), ...of('member', names.MEMBER)]);
});
