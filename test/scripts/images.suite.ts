// The two images of the agent, and how `npm run image` builds them.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { agentImage, memberImage } from '../../src/lib/agent-image';
import { newestPatches } from '../../src/lib/defaults';

const dockerfile = readFileSync('agent/Dockerfile', 'utf8');
const stages = dockerfile.split(/^(?=FROM )/m);
const stage = (name: string) => stages.find((each) => each.split('\n')[0]!.endsWith(` AS ${name}`))!;

const bases = ['NODE_IMAGE', 'ETCD_IMAGE', 'ETCD_3_6_IMAGE', 'ETCD_3_5_IMAGE'];
const pinned = `registry.example.com/base:1@sha256:${'0a'.repeat(32)}`;

/** What the expression of a script is, with the modules of the scripts. */
function evaluated(expression: string): unknown {
  const from = (module: string) => JSON.stringify(resolve('scripts/lib', module));
  const script = `import { unpinnedBases, withBases } from ${from('image/base-images.mjs')};
import { ownBuildArgs, releaseImages } from ${from('image/labels.mjs')};
console.log(JSON.stringify(${expression}));`;
  const text = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  return JSON.parse(text);
}

function image(...args: string[]) {
  const { status, stderr } = spawnSync(process.execPath, [resolve('scripts/commands/image.mjs'), ...args], {
    encoding: 'utf8',
  });
  return { status, lines: stderr.trim().split('\n') };
}

test('that of members adds the newest etcd of each minor to the layers of the other, and is the default', () => {
  expect(stage('agent')).not.toContain('/opt/etcd/');
  expect(stages.at(-1)).toBe(stage('member'));
  expect(stage('member')).toMatch(/^FROM agent AS member$/m);
  for (const [minor, patch] of Object.entries(newestPatches)) {
    const [, from] = new RegExp(`^COPY --from=(\\S+) /usr/local/bin/etcd /opt/etcd/${minor}/etcd$`, 'm').exec(
      stage('member'),
    )!;
    const [, argument] = new RegExp(`^FROM \\$\\{(\\w+)\\} AS ${from}$`, 'm').exec(dockerfile)!;
    expect(dockerfile).toMatch(new RegExp(`^ARG ${argument}=\\S+:v${patch}(@|$)`, 'm'));
  }
});

test('the labels say which version and commit they are of, and are the same in each build', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const args = evaluated('ownBuildArgs()') as string[];
  expect(args).toEqual([
    `VERSION=${version}`,
    expect.stringMatching(/^REVISION=([0-9a-f]{40}(-dirty)?)?$/),
    expect.stringMatching(/^CREATED=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  ]);
  expect(evaluated('ownBuildArgs()')).toEqual(args);
  for (const [name] of args.map((each) => each.split('='))) expect(stage('agent')).toContain(`="\${${name}}"`);
});

test('a build that must be pinned refuses each base without a digest, before it builds anything', () => {
  const wrong = 'registry.example.com/node:24';
  const { status, lines } = image(
    ...['--pinned', '--build-arg', `NODE_IMAGE=${wrong}`],
    ...bases.slice(1).flatMap((base) => ['--build-arg', `${base}=${pinned}`]),
  );
  expect(lines).toEqual([
    `agent/base-images.env: NODE_IMAGE: '${wrong}' has no digest; write ${wrong}@DIGEST, with what this prints: skopeo inspect --format '{{.Digest}}' docker://${wrong}`,
  ]);
  expect(status).toBe(2);
  expect(evaluated(`unpinnedBases(['A_IMAGE=a:1@sha256:12', 'PACKAGES='])`)).toHaveLength(1);
});

test('a release builds from the digests of a file, which has the bases and the tags of the Dockerfile', () => {
  const tags = (text: string) => [...text.matchAll(/^(?:ARG )?(\w+_IMAGE=[^@\s]+)/gm)].map(([, tag]) => tag);
  const file = readFileSync('agent/base-images.env', 'utf8');
  expect(tags(file)).toEqual(tags(dockerfile));
  expect(tags(file).map((line) => line!.split('=')[0])).toEqual(bases);
  const text = bases.map((base) => `${base}=${pinned}\n`).join('');
  const args = `withBases(['VERSION=1'], ${JSON.stringify(`# A comment\n${text}`)})`;
  expect(evaluated(args)).toEqual([...text.trim().split('\n'), 'VERSION=1']);
  expect(evaluated(`unpinnedBases(${args})`)).toEqual([]);
});

test('Renovate finds each line of that file, with and without a digest', () => {
  const { customManagers } = JSON.parse(readFileSync('renovate.json', 'utf8'));
  const [{ managerFilePatterns, matchStrings }] = customManagers;
  const [path] = managerFilePatterns;
  const lines = readFileSync(path, 'utf8').match(/^\w+_IMAGE=.*$/gm)!;
  const found = (text: string) => [...text.matchAll(new RegExp(matchStrings[0], 'g'))].map(({ groups }) => groups!);
  for (const line of lines) {
    const { depName, currentValue, currentDigest } = found(line)[0]!;
    expect(line.endsWith(`=${depName}:${currentValue}${currentDigest ? `@${currentDigest}` : ''}`)).toBe(true);
  }
  const [pin] = found(`NODE_IMAGE=${pinned}`);
  expect({ ...pin }).toEqual({
    depName: 'registry.example.com/base',
    currentValue: '1',
    currentDigest: pinned.split('@')[1],
  });
});

test.each([
  [['--target=etcd', '--tag=a'], "--target: 'etcd' is not an image; write agent or member"],
  [['--target=agent'], '--target: needs --tag'],
])('%j is refused', (args, message) => {
  expect(image(...args)).toEqual({ status: 2, lines: [expect.stringContaining(message)] });
});

test('the images of a release are those that the library names', () => {
  expect(evaluated('releaseImages.map(({ name }) => name)')).toEqual([agentImage, memberImage]);
});
