import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from '../store.ts';

export type CrashPoints = 'each' | readonly string[];
/** Process to kill. `etcd` is killed at the steps of the sidecar next to it. */
export type Crasher = 'reconciler' | 'gate' | 'serve' | 'etcd';

const nameOf = (who: Crasher, point: string): string => (who === 'reconciler' ? point : `${who} ${point}`);

/**
 * Called in a process at each of its points: kills the process, or etcd, with SIGKILL at the requested points, once at
 * each.
 */
export function crashAt(dir: string, who: Crasher, pid: () => number | undefined = () => process.pid) {
  return (point: string): void => {
    const asked = readIfThere(join(dir, 'crash', `${who}.json`));
    if (asked === undefined) return;
    const points = JSON.parse(asked) as CrashPoints;
    if (points !== 'each' && !points.includes(point)) return;
    const victim = pid();
    if (victim !== undefined && isFirst(dir, nameOf(who, point))) process.kill(victim, 'SIGKILL');
  };
}

/** The etcd that runs on this volume. */
export function etcdOn(dataDir: string): number | undefined {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = pids.find((pid) => commandOf(pid).includes(`--config-file=${dataDir}/etcd.yaml`));
  return found === undefined ? undefined : Number(found);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // The process has just ended.
    return '';
  }
}

const pauseFile = (dir: string): string => join(dir, 'crash/pause');

/** In the reconciler: pauses it before an effect. Once another has taken over, it executes the effect and ends. */
export function pauseAt(dir: string): (point: string) => void {
  let late = false;
  return (point) => {
    if (late) process.kill(process.pid, 'SIGKILL');
    if (readIfThere(pauseFile(dir)) !== point) return;
    rmSync(pauseFile(dir));
    late = true;
    process.kill(process.pid, 'SIGSTOP');
  };
}

export const setPause = (dir: string, point: string): void => writeFileSync(pauseFile(dir), point);

function isFirst(dir: string, name: string): boolean {
  try {
    writeFileSync(join(dir, 'crash/done', encodeURIComponent(name)), '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

/** In the test: requests kills from now on, also at points with an earlier kill. */
export function setCrashPoints(dir: string, who: Crasher, points: CrashPoints): void {
  mkdirSync(join(dir, 'crash/done'), { recursive: true });
  if (points !== 'each') {
    for (const point of points)
      rmSync(join(dir, 'crash/done', encodeURIComponent(nameOf(who, point))), { force: true });
  }
  writeFileSync(join(dir, 'crash', `${who}.json`), JSON.stringify(points));
}

export const crashesDone = (dir: string): string[] =>
  readdirSync(join(dir, 'crash/done')).map((name) => decodeURIComponent(name));
