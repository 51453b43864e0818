// Whether everything says which version this is, and that it is released.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/steps.mjs';
import { pythonVersion } from './artifacts.mjs';
import { LeftOut } from './left-out.mjs';
import { tracked } from './tracked.mjs';

export async function version(release) {
  refuseOtherTag(release);
  const lacking = [...unreleased(release.version, committed()), ...otherVersions(release.version, committed())];
  if (lacking.length > 0)
    throw new LeftOut([`this is not the commit of version ${release.version}:`, ...lacking].join('\n  '));
}

/** A released version has one commit: others would make other bytes under its name. */
export function refuseOtherTag({ version, commit }, directory = root) {
  const tagged = spawnSync('git', ['rev-parse', '--quiet', '--verify', `refs/tags/v${version}^{commit}`], {
    cwd: directory,
    encoding: 'utf8',
  }).stdout?.trim();
  if (tagged && tagged !== commit)
    throw new Error(
      `v${version} is the tag of ${tagged}, not of this commit; set the next version, and isReleased to false`,
    );
}

/** What says that this version is not released. `files` are texts by their path. */
export function unreleased(version, files) {
  const lines = [];
  const heading = files
    .get('CHANGELOG.md')
    .split('\n')
    .find((line) => isHeadingOf(line, version));
  if (!heading) lines.push(`CHANGELOG.md: no heading '## ${version}'`);
  if (!/\bisReleased: boolean = true;/.test(files.get('src/lib/agent-image.ts')))
    lines.push('src/lib/agent-image.ts: isReleased is false');
  for (const [path, text] of files) {
    if (!path.endsWith('.md')) continue;
    for (const { 0: words, index } of text.matchAll(denial)) lines.push(`${at(path, text, index)}: says '${words}'`);
  }
  return lines;
}

/** What names another version of ours. `files` are texts by their path. */
export function otherVersions(version, files) {
  const lines = [];
  const { packages } = JSON.parse(files.get('package-lock.json'));
  const versions = {
    'agent/package.json': JSON.parse(files.get('agent/package.json')).version,
    'package-lock.json': packages[''].version,
    "package-lock.json, 'agent'": packages.agent.version,
  };
  for (const [path, found] of Object.entries(versions)) if (found !== version) lines.push(`${path}: has ${found}`);
  for (const [path, text] of files) {
    if (path === 'CHANGELOG.md' || path === 'package-lock.json') continue;
    for (const { 0: name, 1: found, index } of text.matchAll(ours))
      if (![version, pythonVersion(version)].includes(found)) lines.push(`${at(path, text, index)}: ${name}`);
  }
  return lines;
}

/** Files that a release shows to its users, by their path. */
export function committed() {
  const paths = ['*.md', 'examples', 'dist', 'src/lib/agent-image.ts', 'agent/package.json', 'package-lock.json'];
  return new Map(tracked(...paths).map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

const denial =
  /(?:\b(?:is|are|was|were) not (?:yet )?(?:released|published)|\bnothing (?:is|was|has been) (?:released|published) yet|not released\]|\b(?:until|once) there (?:is|are) (?:a )?releases?|\bthe first release will be|\bhas no digests? yet|\bcdk8s-etcd is not[.,;])/gi;

/** A name of ours with a version: of an image, an archive or a tag. What follows the version, such as `-a`, is a build of it. */
const ours =
  /(?:ghcr\.io\/cdk8s-etcd\/[\w$-]+:|\betcd-agent:|\bcdk8s[-_]etcd(?:-go)?[-:]|\bkubectl-etcd-v|\/tags\/v)(\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)(?:\.\d+)*|(?:a|b|rc)\d+)?)/g;

const isHeadingOf = (line, version) =>
  [`## ${version}`, `## [${version}]`].some((start) => line === start || line.startsWith(`${start} `));

const at = (path, text, index) => `${path}:${text.slice(0, index).split('\n').length}`;
