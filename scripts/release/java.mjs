// What Maven Central takes: the jar, the sources, the documentation and the pom.
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runIfThere } from './left-out.mjs';

export async function java(release) {
  const sources = release.sources('java');
  const pom = join(sources, 'pom.xml');
  const args = ['-B', '-q', '-f', pom, `-Dproject.build.outputTimestamp=${release.isoTime}`, 'package'];
  await runIfThere('mvn', args, { env: release.environment, timeout: 1_200_000 });
  copyFileSync(pom, release.file(`cdk8s-etcd-${release.version}.pom`));
  const target = join(sources, 'target');
  for (const name of readdirSync(target).filter((name) => name.endsWith('.jar'))) {
    copyFileSync(join(target, name), release.file(name));
  }
}
