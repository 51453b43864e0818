// What the agent's images say of themselves, so that two builds of one commit are the same.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The images of this release. */
export const releaseImages = ['agent', 'member'].map((target) => ({
  target,
  name: `ghcr.io/cdk8s-etcd/${target}:${version}`,
}));

/** The time of the commit, in seconds. 0 outside of a git repository. */
export const commitSeconds = () => Number(git('log', '-1', '--format=%ct'));

/** Arguments of the Dockerfile for its labels. */
export function ownBuildArgs() {
  return [
    `VERSION=${version}`,
    `REVISION=${git('describe', '--always', '--abbrev=40', '--exclude=*', '--dirty')}`,
    `CREATED=${new Date(commitSeconds() * 1000).toISOString().replace('.000', '')}`,
  ];
}

function git(...args) {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}
