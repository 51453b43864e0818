import { madeFromAnnotation } from '../../../../src/cluster/manifests/made-from.ts';
import { epochAnnotation } from '../../../../src/etcd/annotations.ts';
import { versionOfImage } from '../../../../src/etcd/image-version.ts';
import type { Container, PodTemplate, StatefulSetObject, Volume, VolumeSource } from '../../kube/objects.ts';
import { group } from '../../kube/paths.ts';
import type { PeerTrust, StatefulSet } from '../port/observed.ts';

export const rootsAnnotation = `${group}/roots`;
/** The Secrets of peers whose authorities the pods trust, while the source of the certificates is changed. */
const trustsAnnotation = `${group}/trusts`;

/** Name of the volume with the certificate of etcd's clients. */
export const serverVolume = 'server-tls';

export function statefulSetOf({ metadata, spec, status }: StatefulSetObject): StatefulSet {
  const imageVersion = versionOfImage(spec.template.spec.containers.find(({ name }) => name === 'etcd')?.image ?? '');
  const annotations = spec.template.metadata?.annotations ?? {};
  const epoch = Number(annotations[epochAnnotation] ?? 0);
  const roots = annotations[rootsAnnotation];
  const peers = peersOf(spec.template.spec.volumes, annotations);
  const source = metadata.annotations?.[madeFromAnnotation];
  return {
    replicas: spec.replicas ?? 1,
    rv: metadata.resourceVersion,
    updateRevision: status?.updateRevision ?? '',
    observed: metadata.generation !== undefined && status?.observedGeneration === metadata.generation,
    minEpoch: Number.isSafeInteger(epoch) ? epoch : 0,
    roots,
    version: gateOf(spec.template)?.env?.find(({ name }) => name === 'ETCD_VERSION')?.value ?? '',
    imageVersion,
    tlsSecrets: {
      ...secretBehind(spec.template, 'peer', peerVolume),
      ...secretBehind(spec.template, 'server', serverVolume),
    },
    peers,
    madeFrom: source,
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

const peerVolume = 'peer-tls';

/** The volume with the certificates that members use for each other. */
export const peerVolumeOf = ({ spec }: PodTemplate): Volume | undefined =>
  spec.volumes?.find(({ name }) => name === peerVolume);

/** Whose certificates a pod shows other members and accepts. Undefined without TLS. */
export function peersOf(
  volumes: readonly Volume[] | undefined,
  annotations: Readonly<Record<string, string>> = {},
): PeerTrust | undefined {
  const own = secretIn(volumes, peerVolume);
  return own === undefined ? undefined : { own, trusted: annotations[trustsAnnotation]?.split(',') ?? [own] };
}

/** The Secret of the certificate in a volume. */
function secretIn(volumes: readonly Volume[] | undefined, volume: string): string | undefined {
  const { secret, projected } = volumes?.find(({ name }) => name === volume) ?? {};
  return secret?.secretName ?? projected?.sources.find((source) => hasCertificate(source))?.secret?.name;
}

const hasCertificate = ({ secret }: VolumeSource): boolean =>
  secret?.items?.some(({ path }) => path === 'tls.crt') ?? false;

function secretBehind(
  template: PodTemplate,
  key: 'peer' | 'server',
  volume: string,
): { peer?: string; server?: string } {
  const name = secretIn(template.spec.volumes, volume);
  return name === undefined ? {} : { [key]: name };
}
