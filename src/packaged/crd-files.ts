import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ApiObjectProps } from 'cdk8s';
import { cdk8sYaml } from './cdk8s-yaml';

const read = new Map<string, ApiObjectProps>();

/** Each file is read once: an app with many charts has as many of this construct. */
export function crdIn(file: string): ApiObjectProps {
  const manifest = read.get(file) ?? cdk8sYaml.parse(readFileSync(join(directory(), file), 'utf8'));
  read.set(file, manifest);
  return manifest;
}

/** Returns the package's `crds/`, in the nearest directory above this file that contains it. */
function directory(): string {
  for (let at = __dirname; at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, 'crds/etcdclusters.yaml'))) return join(at, 'crds');
  }
  throw new Error('EtcdCrds: crds/ is not in a directory above this code; do not bundle cdk8s-etcd');
}
