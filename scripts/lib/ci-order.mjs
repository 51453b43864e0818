// The order in which CI runs its optional steps. It depends on the commit alone, so that the same commit runs the same steps.
import { execFileSync } from 'node:child_process';
import { root } from './steps.mjs';

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** Returns the files that changed in the twelve hours before this commit, or all files if git cannot list them. */
function changedFiles() {
  try {
    const at = Number(git('show', '-s', '--format=%ct', 'HEAD'));
    const base = git('rev-list', '-1', `--before=${at - 12 * 3600}`, 'HEAD');
    return git('diff', '--name-only', base || git('hash-object', '-t', 'tree', '/dev/null'), 'HEAD').split('\n');
  } catch {
    return undefined;
  }
}

/** Rotation of the steps that no change touches: one further with each commit, so that each gets its turn. */
function turn() {
  try {
    return Number(git('rev-list', '--count', 'HEAD'));
  } catch {
    return 0;
  }
}

/** First the steps whose subject the change touches, in the order of their value; then the others, in rotation. */
export function order(steps, changed = changedFiles(), by = turn()) {
  const isTouched = ({ subject }) =>
    changed === undefined ||
    subject.some((folder) => changed.some((file) => file === folder || file.startsWith(`${folder}/`)));
  const touched = steps.filter(isTouched);
  const others = steps.filter((step) => !isTouched(step));
  const first = others.length === 0 ? 0 : by % others.length;
  return [...touched, ...others.slice(first), ...others.slice(0, first)];
}
