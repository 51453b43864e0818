// What Maven Central takes: the jar, the sources, the documentation and the pom.
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lib/run.mjs';
import { need } from './left-out.mjs';
import { filesBelow } from './pack.mjs';

export async function java(release) {
  await need('mvn', '--version');
  const sources = release.sources('java');
  for (const file of filesBelow(sources).filter((name) => /\.(java|xml)$/.test(name))) {
    writeFileSync(file, withTime(readFileSync(file, 'utf8'), release.isoTime));
  }
  const pom = join(sources, 'pom.xml');
  const args = ['-B', '-q', '-f', pom, `-Dproject.build.outputTimestamp=${release.isoTime}`, 'package'];
  await run('mvn', args, { env: release.environment, timeout: 1_200_000 });
  copyFileSync(pom, release.file(`cdk8s-etcd-${release.version}.pom`));
  const target = join(sources, 'target');
  for (const name of readdirSync(target).filter((name) => name.endsWith('.jar'))) {
    copyFileSync(join(target, name), release.file(name));
  }
}

/** Replaces the time of now, which jsii-pacmak writes beside its name and version. */
export function withTime(source, time) {
  return source.replace(/(\bjsii-pacmak\b.*?)\d{4}-\d\d-\d\dT[\d:.]+Z/g, `$1${time}`);
}
