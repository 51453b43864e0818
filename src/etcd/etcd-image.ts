import { agentImage, memberImage } from '../lib/agent-image';
import { defaultMinor, etcdRegistry, etcdRepository, newestPatches } from '../lib/defaults';
import { EtcdVersion } from './etcd-version';
import { isImage, versionOfImage } from './image-version';

/** Properties that select a cluster's images. */
export interface ImageProps {
  readonly version?: EtcdVersion;
  readonly image?: string;
  readonly registry?: string;
  readonly agentImage?: string;
}

/** The images of a cluster, the version of etcd in them, and the problems with the properties. */
export interface EtcdImages {
  readonly etcd: string;
  readonly agent: string;
  /** The agent's with an etcd of each minor version. */
  readonly gate: string;
  readonly version: EtcdVersion;
  readonly problems: readonly string[];
}

/** Resolves the images of a cluster. Without `version`, the tag of etcd's image determines the version. */
export function etcdImages(props: ImageProps): EtcdImages {
  const { image, registry } = props;
  const tag = image === undefined ? undefined : versionOfImage(image);
  const tagged = tag === undefined ? undefined : EtcdVersion.of(tag);
  const version = props.version ?? tagged ?? EtcdVersion.of(newestPatches[defaultMinor]);
  return {
    etcd: image ?? `${registry ?? etcdRegistry}/${etcdRepository}:v${version.version}`,
    agent: props.agentImage ?? mirrored(agentImage, registry),
    gate: props.agentImage ?? mirrored(memberImage, registry),
    version,
    problems: [...registryProblems(registry), ...imageProblems(props, tagged), ...agentImageProblems(props.agentImage)],
  };
}

/** Returns the image in a mirror: the mirror's name replaces the registry's. */
export function mirrored(image: string, registry: string | undefined): string {
  return registry === undefined ? image : image.replace(/^[^/]+/, registry);
}

function imageProblems({ image, version }: ImageProps, tagged: EtcdVersion | undefined): string[] {
  if (image !== undefined && !isImage(image)) {
    return [
      `image: '${image}' is not a valid image; write it like registry.example.com/etcd:v${newestPatches[defaultMinor]}`,
    ];
  }
  if (image !== undefined && !version && !tagged) {
    return [
      `image: '${image}' does not show which version of etcd it contains; give version: EtcdVersion.of('3.x.y') too`,
    ];
  }
  if (version && tagged && version.version !== tagged.version) {
    return [`image: the tag of '${image}' is ${tagged.version}, but version is ${version.version}; change one of them`];
  }
  if (version) return version._problems().map((problem) => `version: ${problem}`);
  return (tagged?._problems() ?? []).map((problem) => `image: ${problem}`);
}

function agentImageProblems(image: string | undefined): string[] {
  if (image === undefined) return [];
  if (!isImage(image)) {
    return [
      `agentImage: '${image}' is not a valid image; write it like registry.example.com/agent:1.0.0, or leave it out`,
    ];
  }
  const [, place] = withoutEtcd.exec(image) ?? [];
  if (place === undefined) return [];
  return [
    `agentImage: '${image}' contains no etcd, with which a member salvages its data; give ${place}/member with its own tag or digest`,
  ];
}

/** The released image that is not for members, also in a mirror. */
const withoutEtcd = /^(.*\/cdk8s-etcd)\/agent(?:[:@]|$)/;

export function registryProblems(registry: string | undefined): string[] {
  if (registry === undefined || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d+)?(\/[a-z0-9._-]+)*$/.test(registry)) return [];
  return [
    `registry: '${registry}' is not a valid registry; write it like registry.example.com/mirror, without https:// and without a / at the end`,
  ];
}
