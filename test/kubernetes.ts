import { k8s } from 'cdk8s-plus-34';
import { CustomResourceDefinition } from 'kubernetes-models/apiextensions.k8s.io/v1';
import { DaemonSet, Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import { CronJob, Job } from 'kubernetes-models/batch/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Role, RoleBinding } from 'kubernetes-models/rbac.authorization.k8s.io/v1';
import { ConfigMap, Namespace, Pod, Secret, Service, ServiceAccount } from 'kubernetes-models/v1';
import { crds, schemaOf } from './apply/schema';
import type { Manifest } from './synth';

interface Kind {
  readonly validate: (manifest: Manifest) => void;
  readonly known: (fields: Manifest) => object | undefined;
}

const foreign: Kind = { validate: () => {}, known: (fields) => fields };

const kinds: Record<string, Kind> = {
  ConfigMap: kind(ConfigMap, k8s.toJson_KubeConfigMapProps),
  CronJob: kind(CronJob, k8s.toJson_KubeCronJobProps),
  CustomResourceDefinition: kind(CustomResourceDefinition, (fields) => fields),
  DaemonSet: kind(DaemonSet, k8s.toJson_KubeDaemonSetProps),
  Deployment: kind(Deployment, k8s.toJson_KubeDeploymentProps),
  Job: kind(Job, k8s.toJson_KubeJobProps),
  Namespace: kind(Namespace, k8s.toJson_KubeNamespaceProps),
  NetworkPolicy: kind(NetworkPolicy, k8s.toJson_KubeNetworkPolicyProps),
  Pod: kind(Pod, k8s.toJson_KubePodProps),
  PodDisruptionBudget: kind(PodDisruptionBudget, k8s.toJson_KubePodDisruptionBudgetProps),
  Role: kind(Role, k8s.toJson_KubeRoleProps),
  RoleBinding: kind(RoleBinding, k8s.toJson_KubeRoleBindingProps),
  Secret: kind(Secret, k8s.toJson_KubeSecretProps),
  Service: kind(Service, k8s.toJson_KubeServiceProps),
  ServiceAccount: kind(ServiceAccount, k8s.toJson_KubeServiceAccountProps),
  StatefulSet: kind(StatefulSet, knownStatefulSet),
  // An API server judges the values of the custom resources, in test/apply.
  ...Object.fromEntries(crds.map((crd) => [crd.spec.names.kind, ownKind(schemaOf(crd))])),
  // No schemas of these operators are here.
  ...Object.fromEntries(['Certificate', 'ServiceMonitor', 'PrometheusRule'].map((each) => [each, foreign])),
};

function kind(Model: new (manifest: Manifest) => { validate(): void }, known: Kind['known']): Kind {
  return { validate: (manifest) => new Model(manifest).validate(), known };
}

/** The API server fills in metadata itself. */
function ownKind({ properties: { metadata, ...properties } }: Manifest): Kind {
  return {
    validate: () => {},
    known: (fields) => ({ ...pruned({ properties }, fields), metadata: fields.metadata }),
  };
}

/** Without the fields that the schema does not have. */
function pruned({ properties, items }: Manifest, value: Manifest): Manifest {
  if (items && Array.isArray(value)) return value.map((item) => pruned(items, item));
  if (!properties || typeof value !== 'object') return value;
  const known = Object.entries(value).filter(([name]) => name in properties);
  return Object.fromEntries(known.map(([name, field]) => [name, pruned(properties[name], field)]));
}

/** The typed claims have no apiVersion, kind and status, which Kubernetes has. */
function knownStatefulSet(fields: Manifest): object {
  const known: Manifest = k8s.toJson_KubeStatefulSetProps(fields);
  known.spec.volumeClaimTemplates &&= fields.spec.volumeClaimTemplates.map(
    ({ apiVersion, kind, status, ...claim }: Manifest) => ({
      ...{ apiVersion, kind, status },
      ...k8s.toJson_KubePersistentVolumeClaimProps(claim),
    }),
  );
  return known;
}

/** Throws unless Kubernetes' schema knows every field and value of the manifest. */
export function checkSchema(manifest: Manifest): void {
  const { apiVersion, kind, ...fields } = manifest;
  const checks = kinds[kind];
  if (!checks) throw new Error(`no schema of kind ${kind} here`);
  const { validate, known } = checks;
  validate(manifest);
  // Writing it with typed objects drops the fields that Kubernetes does not have.
  const isOurs = apiVersion.startsWith('cdk8s-etcd.dev/');
  expect({ apiVersion, kind, ...known(isOurs ? fields : typed(fields)) }).toEqual(manifest);
}

/** The typed objects want some values as objects, and write abbreviations their own way. */
function typed(value: Manifest, path = ''): Manifest {
  if (/(ontainers|Templates\.spec)\.resources\.(requests|limits)\.[^.]+$|\bsizeLimit$/.test(path))
    return k8s.Quantity.fromString(value);
  if (/\b(targetPort|httpGet\.port|(in|e)gress\.ports\.port|maxUnavailable)$/.test(path))
    return k8s.IntOrString.fromNumber(value);
  if (Array.isArray(value)) return value.map((item) => typed(item, path));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [abbreviations.get(key) ?? key, typed(item, `${path}.${key}`)]),
  );
}

const abbreviations = new Map([
  ['clusterIP', 'clusterIp'],
  ['downwardAPI', 'downwardApi'],
  ['hostPID', 'hostPid'],
]);

/** Violations of the restricted Pod Security Standard by a pod, control by control. */
export function restrictedProblems(pod: Manifest): string[] {
  const containers: Manifest[] = [...pod.containers, ...(pod.initContainers ?? []), ...(pod.ephemeralContainers ?? [])];
  const volumes: object[] = (pod.volumes ?? []).map(({ name: _, ...source }: Manifest) => source);
  const everyContainer = (control: string, holds: (security: Manifest, container: Manifest) => boolean) =>
    [control, containers.every((container) => holds(container.securityContext ?? {}, container))] as const;
  const either = (security: Manifest, field: string) => security[field] ?? pod.securityContext?.[field];
  const controls = [
    ['host namespaces', !pod.hostNetwork && !pod.hostPID && !pod.hostIPC],
    ['Windows host process', !pod.securityContext?.windowsOptions?.hostProcess],
    ['volume types', volumes.every((volume) => Object.keys(volume).every((type) => restrictedVolumes.includes(type)))],
    ['sysctls', !pod.securityContext?.sysctls],
    everyContainer('privileged', ({ privileged }) => !privileged),
    everyContainer('privilege escalation', (security) => security.allowPrivilegeEscalation === false),
    everyContainer('capabilities', ({ capabilities }) => !capabilities?.add && capabilities?.drop?.includes('ALL')),
    everyContainer('host ports', (_, { ports = [] }) => ports.every((port: Manifest) => !port.hostPort)),
    everyContainer('running as non-root', (security) => either(security, 'runAsNonRoot') === true),
    everyContainer('non-root user', (security) => either(security, 'runAsUser') !== 0),
    everyContainer('seccomp', (security) => either(security, 'seccompProfile')?.type === 'RuntimeDefault'),
    everyContainer('proc mount', ({ procMount }) => !procMount),
    everyContainer('SELinux', (security) => !either(security, 'seLinuxOptions')),
    everyContainer('AppArmor', (security) => !either(security, 'appArmorProfile')),
  ] as const;
  return controls.filter(([, holds]) => !holds).map(([control]) => control);
}

const restrictedVolumes = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
