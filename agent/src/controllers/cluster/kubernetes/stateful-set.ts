import { versionOfImage } from '../../../../../src/etcd/image-version.ts';
import type { Container, PodTemplate, StatefulSetObject } from '../../../kube/objects.ts';
import { group } from '../../../kube/paths.ts';
import type { StatefulSet } from '../observed.ts';

export const epochAnnotation = `${group}/epoch`;
export const rootsAnnotation = `${group}/roots`;

/** Name of the volume with the certificate of etcd's clients. */
export const serverVolume = 'server-tls';

export function statefulSetOf({ metadata, spec, status }: StatefulSetObject): StatefulSet {
  const imageVersion = versionOfImage(spec.template.spec.containers.find(({ name }) => name === 'etcd')?.image ?? '');
  const annotations = spec.template.metadata?.annotations ?? {};
  const epoch = Number(annotations[epochAnnotation] ?? 0);
  const roots = annotations[rootsAnnotation];
  return {
    replicas: spec.replicas ?? 1,
    rv: metadata.resourceVersion,
    updateRevision: status?.updateRevision ?? '',
    observed: metadata.generation !== undefined && status?.observedGeneration === metadata.generation,
    minEpoch: Number.isSafeInteger(epoch) ? epoch : 0,
    ...(roots !== undefined && { roots }),
    version: gateOf(spec.template)?.env?.find(({ name }) => name === 'ETCD_VERSION')?.value ?? '',
    ...(imageVersion !== undefined && { imageVersion }),
    tlsSecrets: {
      ...secretBehind(spec.template, 'peer', 'peer-tls'),
      ...secretBehind(spec.template, 'server', serverVolume),
    },
  };
}

/** Returns true if the StatefulSet has fewer pods than it should have. */
export function missingPods({ spec, status }: StatefulSetObject): boolean {
  return (status?.replicas ?? 0) < (spec.replicas ?? 1);
}

export const gateOf = (template: PodTemplate): Container | undefined => initContainer(template, 'gate');

/** The sidecar. Jobs use its image: the gate's contains an etcd of each minor version besides. */
export const sidecarOf = (template: PodTemplate): Container | undefined => initContainer(template, 'agent');

const initContainer = ({ spec }: PodTemplate, wanted: string): Container | undefined =>
  spec.initContainers?.find(({ name }) => name === wanted);

/** Value of the gate's flag `--cluster-domain`. */
export function domainOf(template: PodTemplate): string {
  const flag = '--cluster-domain=';
  return (
    gateOf(template)
      ?.args?.find((argument) => argument.startsWith(flag))
      ?.slice(flag.length) ?? 'cluster.local'
  );
}

/** Name of the Secret behind the volume `peer-tls`. */
export const peerSecretOf = (template: PodTemplate): string | undefined => secretOf(template, 'peer-tls');

const secretOf = ({ spec }: PodTemplate, volume: string): string | undefined =>
  spec.volumes?.find(({ name }) => name === volume)?.secret?.secretName;

function secretBehind(
  template: PodTemplate,
  key: 'peer' | 'server',
  volume: string,
): { peer?: string; server?: string } {
  const name = secretOf(template, volume);
  return name === undefined ? {} : { [key]: name };
}
