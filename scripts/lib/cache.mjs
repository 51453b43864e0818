// Programs that the tests run are kept outside the tree, each set in a directory that is created atomically.
import { randomBytes } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { atExit } from './run.mjs';

const { CDK8S_ETCD_CACHE, XDG_CACHE_HOME } = process.env;
export const cacheDirectory = resolve(
  CDK8S_ETCD_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'cdk8s-etcd'),
);

const unfinished = '.unfinished-';
const anHour = 3_600_000;

/** Lets `fill` write into a fresh directory beside `target`, then puts it in target's place. Returns what `fill` returned. */
export async function fillDirectory(target, fill) {
  const parent = dirname(target);
  await mkdir(parent, { recursive: true });
  await sweep(parent);
  const fresh = join(parent, `${unfinished}${basename(target)}-${randomBytes(6).toString('hex')}`);
  const remove = atExit(() => rmSync(fresh, { recursive: true, force: true, maxRetries: 5 }));
  try {
    await mkdir(fresh);
    const result = await fill(fresh);
    replace(target, fresh);
    return result;
  } finally {
    remove();
  }
}

/**
 * A directory cannot be renamed over a non-empty one, so the old one is moved away, and deleted when the new one is in its place.
 * No signal is handled in between, but another run may create the target.
 */
function replace(target, fresh) {
  const old = [];
  for (;;) {
    try {
      renameSync(fresh, target);
      break;
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST'].includes(error.code) || old.length === 5) throw error;
    }
    old.push(`${fresh}-old${old.length}`);
    try {
      renameSync(target, old.at(-1));
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
  }
  for (const aside of old) rmSync(aside, { recursive: true, force: true });
}

/** Leftovers of interrupted runs. */
async function sweep(parent) {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(unfinished)) continue;
    const path = join(parent, name);
    const age = Date.now() - ((await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now());
    if (age > anHour) await rm(path, { recursive: true, force: true });
  }
}
