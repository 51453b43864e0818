/** A class by one of its members, as another copy of this library or of cdk8s may have made the value. */
interface Kind {
  readonly name: string;
  readonly member: string;
  readonly required?: boolean;
}

/** A construct, or one that is about to be made. */
interface Placed {
  readonly node: { readonly path: string };
}

type Kinds = Readonly<Record<string, Kind>>;

const kind = (name: string, member: string): Kind => ({ name, member });
const required = (kind: Kind): Kind => ({ ...kind, required: true });

const object = kind('object', 'toString');
const array = kind('array', 'map');
const size = kind('Size', 'toKibibytes');
const duration = kind('Duration', 'toMilliseconds');
const store = kind('BackupStore', '_definition');
const encryption = kind('Encryption', '_recipients');
const cluster = kind('IEtcdCluster', 'clientEndpoints');
const networkAccess = kind('NetworkAccess', '_peers');
const pod = { imagePullSecrets: array, tolerations: array, nodeSelector: object, labels: object };
const access = { endpoints: array, tls: kind('EtcdClientTls', '_pod'), auth: kind('EtcdAuth', '_files') };

export const clusterKinds: Kinds = {
  ...pod,
  version: kind('EtcdVersion', 'minor'),
  quota: size,
  volume: object,
  'volume.size': size,
  resources: kind('EtcdResources', '_requirements'),
  tuning: kind('EtcdTuning', '_settings'),
  tls: kind('EtcdTls', '_bind'),
  settings: object,
  podAnnotations: object,
  origin: object,
  recovery: object,
  spread: kind('EtcdSpread', '_constraints'),
  networkAccess,
  metricsAccess: networkAccess,
  reconciler: kind('IEtcdReconciler', 'reconcilerName'),
  replace: kind('ReplacePolicy', '_spec'),
};

export const reconcilerKinds: Kinds = { ...pod, metricsAccess: networkAccess, resources: object, selector: object };

export const scheduleKinds: Kinds = {
  ...pod,
  ...access,
  endpoints: required(array),
  schedule: required(kind('Cron', 'expressionString')),
  store: required(store),
  retention: kind('Retention', '_policy'),
  encryption,
  resources: object,
  dialTimeout: duration,
  timeout: duration,
  startingDeadline: duration,
  activeDeadline: duration,
};

export const controlPlaneKinds: Kinds = {
  ...{ nodeLabels: array, tolerations: array, certificates: object, files: object },
  'files.encryption': encryption,
  'files.directories': array,
  'files.files': array,
};

export const backupKinds: Kinds = {
  ...access,
  labels: object,
  cluster,
  store,
  encryption,
  dialTimeout: duration,
  timeout: duration,
};

export const restoreKinds: Kinds = {
  labels: object,
  cluster: required(cluster),
  source: required(kind('RestoreSource', '_spec')),
};

export const attributesKinds: Kinds = { clientEndpoints: required(array), clientTls: access.tls };

/**
 * Says at once, with the construct's path, which property has a value of another class. TypeScript does so before, but not
 * to those who write JavaScript or `any`: they would only learn that something is not a function.
 */
export function requireKinds(construct: Placed, props: object, wanted: Kinds): void {
  for (const [property, { name, member, required }] of Object.entries(wanted)) {
    const value = (props as Readonly<Record<string, unknown>>)[property];
    if (value === undefined && !required) continue;
    if (typeof value === 'object' && value !== null && member in value) continue;
    throw new Error(
      `${construct.node.path}: ${property}: ${shown(value)} is no ${name}; give one${required ? '' : ', or leave it out'}`,
    );
  }
}

function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return `an object of ${value.constructor?.name ?? 'no class'}`;
  return typeof value === 'string' ? `'${value}'` : String(value);
}
