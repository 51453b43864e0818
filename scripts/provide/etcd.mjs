// Puts etcd, etcdctl and etcdutl of every supported minor into the cache, for the tests and the quickstart. Runs on
// Node 20. With --any only the newest available one; with --minors=3.6,3.7 only these.
import { access, constants, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cacheDirectory, fillDirectory } from '../lib/cache.mjs';
import { minorOf, programsOf, versionOf } from '../lib/etcd-programs.mjs';
import { debian, go, path, release } from '../lib/etcd-ways.mjs';
import { say } from '../lib/run.mjs';

const minors = ['3.7', '3.6', '3.5'];
const directoryOf = (minor) => join(cacheDirectory, 'etcd', minor);

/** Returns the existing version. A program that is a link may have changed since, so it is run. */
async function cached(minor) {
  const directory = directoryOf(minor);
  const version = (await readFile(join(directory, 'version'), 'utf8').catch(() => '')).trim();
  if (!version) return undefined;
  for (const program of programsOf(minor)) {
    const executable = await access(join(directory, program), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!executable) return undefined;
  }
  return (await versionOf('etcd', join(directory, 'etcd'))) === version ? version : undefined;
}

async function make(minor, way) {
  return fillDirectory(directoryOf(minor), async (directory) => {
    await way.fill(minor, directory);
    const versions = await Promise.all(programsOf(minor).map((name) => versionOf(name, join(directory, name))));
    const wrong = versions.findIndex((version) => !version || minorOf(version) !== minor);
    if (wrong >= 0)
      throw new Error(`${programsOf(minor)[wrong]} says it is ${versions[wrong] ?? 'nothing we can run'}`);
    await writeFile(join(directory, 'version'), `${versions[0]}\n`);
    return versions[0];
  });
}

/** Tries the ways in turn and prints one line; false when none of them worked. */
async function provide(minor, ways, otherwise) {
  const started = performance.now();
  const version = await cached(minor);
  if (version) {
    say(`etcd ${version}: at hand`, started);
    return true;
  }
  const refusals = [];
  for (const way of ways) {
    try {
      say(`etcd ${await make(minor, way)}: ${way.done}`, started);
      return true;
    } catch (error) {
      refusals.push(error.message);
    }
  }
  if (otherwise) say(`etcd ${minor} ${otherwise} (${refusals.join('; ')})`);
  return false;
}

const everyWay = [path, go, debian, release];
const remedy =
  'is missing and cannot be installed here: install Go 1.26 or put etcd, etcdctl and etcdutl of it on the PATH';

/** Newest first, by every way: some tests need features of etcdutl 3.7. */
async function any() {
  for (const minor of minors) if (await provide(minor, everyWay, remedy)) return true;
  return false;
}

async function each(wanted) {
  const done = [];
  for (const minor of wanted) done.push(await provide(minor, everyWay, remedy));
  return done.every(Boolean);
}

async function all() {
  const done = await each(minors);
  await provide('3.4', [path, debian], 'stays untested');
  return done;
}

const { values } = parseArgs({ options: { any: { type: 'boolean' }, minors: { type: 'string' } } });
const wanted = values.minors?.split(',');
const unknown = wanted?.find((minor) => !minors.includes(minor));
if (unknown !== undefined) {
  console.error(`--minors: '${unknown}' is not one of ${minors.join(', ')}`);
  process.exit(2);
}
process.exitCode = (await (values.any ? any() : wanted ? each(wanted) : all())) ? 0 : 2;
