// The order in which CI runs its optional steps. It depends on the commit alone, so that the same commit runs the same steps.
import { execFileSync } from 'node:child_process';
import { root } from './steps.mjs';

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** Returns the files that changed in the twelve hours before this commit. Undefined if git cannot list them. */
function changedFiles() {
  try {
    if (git('rev-parse', '--is-shallow-repository') === 'true') {
      console.log('the clone has no history, so every step counts as touched by the change');
      return undefined;
    }
    const at = Number(git('show', '-s', '--format=%ct', 'HEAD'));
    const base = git('rev-list', '-1', `--before=${at - 12 * 3600}`, 'HEAD');
    return git('diff', '--name-only', base || git('hash-object', '-t', 'tree', '/dev/null'), 'HEAD').split('\n');
  } catch {
    return undefined;
  }
}

/** Rotation of the steps that have no first place. The time of the commit is known in a shallow clone too. */
function turn() {
  try {
    return Math.floor(Number(git('show', '-s', '--format=%ct', 'HEAD')) / 60);
  } catch {
    return 0;
  }
}

/** Minutes for the steps that the change touches. The rest of the budget goes round, so that each step gets its turn. */
const FIRST = 35;

/** First the steps whose subject the change touches, in the order of their value; then the others, in rotation. */
export function order(steps, changed = changedFiles(), by = turn()) {
  const isTouched = ({ subject }) =>
    changed === undefined ||
    subject.some((folder) => changed.some((file) => file === folder || file.startsWith(`${folder}/`)));
  const first = [];
  let minutes = 0;
  for (const step of steps.filter(isTouched)) {
    if (minutes + step.estimate > FIRST) break;
    minutes += step.estimate;
    first.push(step);
  }
  const others = steps.filter((step) => !first.includes(step));
  const at = others.length === 0 ? 0 : by % others.length;
  return [...first, ...others.slice(at), ...others.slice(0, at)];
}
