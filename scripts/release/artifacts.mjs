// The files that each step makes, so that none is missing, and none of something else is published.
import { releaseImages } from '../lib/image/labels.mjs';
import { layoutOf } from './image.mjs';
import { signatures } from './signature.mjs';
import { tracked } from './tracked.mjs';

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

/** Whether a step of this version makes a file of this name. */
export const isArtifact = (name, version) => Object.values(names).some((of) => of(version).includes(name));

/** As Python writes it: 1.2.0rc1. */
export const pythonVersion = (version) => version.replace(/-(a|b|rc)[a-z]*\.(\d+)$/, '$1$2');
