// The files that each step makes, so that none is missing, and none of something else is published.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { releaseImages } from '../lib/image/labels.mjs';
import { layoutOf } from './image.mjs';
import { tracked } from './tracked.mjs';

/** Files of a release that differ each time, because signatures are random. */
export const signatures = ['SHA256SUMS.sigstore.json', 'provenance.sigstore.json', 'rehearsal.pub'];

/** Files that come after the sums, which do not list them. */
export const notListed = new Set(['SHA256SUMS', ...signatures]);

const ofImages = (end) => releaseImages.map(({ name }) => `${layoutOf(name)}.${end}`);

const names = {
  npm: (version) => [`cdk8s-etcd-${version}.tgz`],
  plugin: (version) => [`kubectl-etcd-v${version}.tar.gz`, 'krew-etcd.yaml'],
  python: (version) => [`cdk8s_etcd-${pythonVersion(version)}-py3-none-any.whl`],
  java: (version) => ['.jar', '-javadoc.jar', '-sources.jar', '.pom'].map((end) => `cdk8s-etcd-${version}${end}`),
  go: (version) => [`cdk8s-etcd-go-${version}.tar.gz`],
  image: () => ofImages('oci.tar'),
  manifests: (version) => [`dist-v${version}.tar.gz`, ...tracked('dist')],
  'npm-sbom': (version) => [`cdk8s-etcd-${version}.npm.cdx.json`],
  'image-sbom': () => ofImages('go.cdx.json'),
  provenance: () => ['provenance.json'],
  checksums: () => ['SHA256SUMS'],
  signature: () => signatures,
};

/** Names of the files that a step makes. */
export const artifactsOf = (step, version) => names[step]?.(version) ?? [];

/** Names of the files that SHA256SUMS of a whole release lists. */
export const listedArtifacts = (version) =>
  Object.values(names).flatMap((of) => of(version).filter((name) => !notListed.has(name)));

/** Steps before the provenance whose files are not all in a directory. */
export const stepsLackingIn = (directory, version) =>
  Object.keys(names)
    .slice(0, Object.keys(names).indexOf('provenance'))
    .filter((step) => artifactsOf(step, version).some((name) => !existsSync(join(directory, name))));

/** As Python writes it: 1.2.0rc1. */
export const pythonVersion = (version) => version.replace(/-(a|b|rc)[a-z]*\.(\d+)$/, '$1$2');
