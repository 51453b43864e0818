// What the workflow of a release types, with stand-ins for the registries: it can be run again, and it replaces nothing.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
  readonly steps: readonly Step[];
}

const { jobs } = parse(readFileSync('.github/workflows/release.yml', 'utf8')) as { jobs: Record<string, Job> };

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
  const step = jobs[job]!.steps.find((each) => each.name === name)!;
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

test('only the job that signs and the one that publishes have an identity, and neither installs a package', () => {
  const withIdentity = Object.entries(jobs).filter(([, { permissions }]) => permissions?.['id-token'] === 'write');
  expect(withIdentity.map(([name]) => name)).toEqual(['sign', 'publish']);
  const typed = withIdentity.flatMap(([, { steps }]) => steps.map((step) => step.run ?? ''));
  expect(typed.filter((line) => /npm (ci|install|run|test|exec)|\bnpx\b|\bgo (run|build)|\bpip\b/.test(line))).toEqual(
    [],
  );
});

test('tests and other languages come before the artifacts', () => {
  const typed = jobs.make!.steps.flatMap((step) => step.run?.trim().split('\n')[0] ?? []);
  expect(typed.slice(-3)).toEqual([
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
    return run('publish', step);
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
    standIn('npm', `case "$3" in dist.integrity) echo "${integrity}";; dist-tags.latest) echo "${latest}";; esac`);
    return run('publish', 'npm', { TAG: tag });
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

  test('another file of this version is an error', () => {
    const { status, stdout, calls } = publish('v1.2.0', 'sha512-other');
    expect({ status, stdout, calls }).toEqual({
      status: 1,
      stdout: expect.stringContaining('another cdk8s-etcd@1.2.0'),
      calls: [],
    });
  });
});

test.each([
  ['{"message":"Not Found"}', 0],
  [
    `{"urls":[{"filename":"cdk8s_etcd-1.2.0-py3-none-any.whl","digests":{"sha256":"${sum('wheel').digest('hex')}"}}]}`,
    0,
  ],
  ['{"urls":[{"filename":"cdk8s_etcd-1.2.0-py3-none-any.whl","digests":{"sha256":"00"}}]}', 1],
])('PyPI with %s: the wheel ends with %d', (answer, status) => {
  writeFileSync(join(folder, 'release/cdk8s_etcd-1.2.0-py3-none-any.whl'), 'wheel');
  standIn('curl', `echo '${answer}'`);
  expect(run('publish', 'The wheel, alone in its folder').status).toBe(status);
});

test.each([
  ['exit 1', 'v1.2.0', ['create v1.2.0 --draft --verify-tag --prerelease=false', 'upload v1.2.0 --clobber']],
  [
    'exit 1',
    'v1.2.0-rc.1',
    ['create v1.2.0-rc.1 --draft --verify-tag --prerelease=true', 'upload v1.2.0-rc.1 --clobber'],
  ],
  ['echo true', 'v1.2.0', ['upload v1.2.0 --clobber']],
  ['echo false', 'v1.2.0', []],
])('when GitHub answers with `%s` about %s, the draft is made or used again', (answer, tag, wanted) => {
  mkdirSync(join(folder, 'release/dist'));
  standIn('gh', `[ "$2" != view ] || ${answer}`);
  const { status, calls } = run('publish', 'A draft of the release on GitHub', { TAG: tag });
  expect(calls).toEqual(wanted.map((each) => expect.stringContaining(`gh release ${each}`)));
  expect(status).toBe(0);
});

test('an image that only we can pull stops the draft, and says what to do', () => {
  standIn('skopeo', 'exit 1');
  const names = { AGENT: 'ghcr.io/cdk8s-etcd/agent@sha256:1', MEMBER: 'ghcr.io/cdk8s-etcd/member@sha256:2' };
  const { status, stdout } = run('publish', 'Everyone can pull them', names);
  expect({ status, stdout }).toEqual({ status: 1, stdout: expect.stringContaining('make the package agent public') });
});
