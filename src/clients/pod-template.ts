// biome-ignore-all lint/suspicious/noExplicitAny: manifests of any kind, of which only the pod is looked at
/** What a pod gets. */
export interface PodAddition {
  readonly labels: Readonly<Record<string, string>>;
  /** Undefined if there are no files. */
  readonly volume?: { readonly name: string; readonly [source: string]: any };
  readonly mountPath: string;
  readonly env: readonly { readonly name: string; readonly [source: string]: any }[];
  /** Names of containers and init containers; undefined means every container. */
  readonly containers?: readonly string[];
}

/** The manifest of a workload with an addition to its pods, and what prevents the addition. */
export interface Extended {
  readonly manifest: any;
  readonly problems: readonly string[];
}

/**
 * Adds to the pod of a manifest: of a Pod, of a CronJob, and of every object with a `template` of a pod, such as a
 * Deployment, a Job, or a Rollout of another API.
 */
export function withAddition(manifest: any, addition: PodAddition): Extended {
  const path = podPath(manifest);
  if (!path) return { manifest, problems: [`${manifest.kind} '${manifest.metadata?.name}' has no pod`] };
  const problems: string[] = [];
  const extended = changed(manifest, path, (pod) => podWith(pod, addition, problems));
  return { manifest: extended, problems };
}

/** The keys that lead to the object with the metadata and the spec of the pod. */
function podPath({ kind, spec }: any): string[] | undefined {
  if (kind === 'Pod') return [];
  if (spec?.jobTemplate?.spec?.template) return ['spec', 'jobTemplate', 'spec', 'template'];
  return spec?.template?.spec ? ['spec', 'template'] : undefined;
}

function changed(value: any, [key, ...rest]: readonly string[], change: (value: any) => any): any {
  return key === undefined ? change(value) : { ...value, [key]: changed(value[key], rest, change) };
}

function podWith(pod: any, addition: PodAddition, problems: string[]): any {
  const { spec, metadata } = pod;
  const wanted = addition.containers;
  const add = (list: any[] | undefined, all: boolean) =>
    list?.map((each) => ((wanted ? wanted.includes(each.name) : all) ? containerWith(each, addition, problems) : each));
  const names = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name }) => name);
  for (const name of wanted ?? []) {
    if (!names.includes(name)) {
      problems.push(`containers: there is no container '${name}'; use ${names.join(' or ')}`);
    }
  }
  return {
    ...pod,
    metadata: sorted({ ...metadata, labels: sorted({ ...metadata?.labels, ...addition.labels }) }),
    spec: sorted({
      ...spec,
      containers: add(spec.containers, true),
      ...(spec.initContainers && { initContainers: add(spec.initContainers, false) }),
      ...(addition.volume && { volumes: volumesWith(spec.volumes, addition.volume, problems) }),
    }),
  };
}

function volumesWith(volumes: any[] = [], volume: NonNullable<PodAddition['volume']>, problems: string[]): any[] {
  const found = volumes.find(({ name }) => name === volume.name);
  if (!found) return [...volumes, volume];
  if (JSON.stringify(found) !== JSON.stringify(volume)) {
    problems.push(`the pod already has another volume '${volume.name}'; give the client another id`);
  }
  return volumes;
}

function containerWith(container: any, { volume, mountPath, env }: PodAddition, problems: string[]): any {
  const set = new Set((container.env ?? []).map(({ name }: any) => name));
  for (const { name } of env) {
    if (set.has(name)) {
      problems.push(`container '${container.name}' already has the variable ${name}; give another envPrefix`);
    }
  }
  const mounts = container.volumeMounts ?? [];
  if (volume && mounts.some((each: any) => each.mountPath === mountPath)) {
    problems.push(`container '${container.name}' already mounts ${mountPath}; give another mountPath`);
  }
  const mount = volume && { mountPath, name: volume.name, readOnly: true };
  return sorted({
    ...container,
    env: [...(container.env ?? []), ...env],
    ...(mount && { volumeMounts: [...mounts, mount] }),
  });
}

/** As cdk8s sorts them. */
const sorted = (object: any): any =>
  Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : Number(a > b))));
