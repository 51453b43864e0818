import { k8s } from 'cdk8s-plus-33';
import { CronJob, Job } from 'kubernetes-models/batch/v1';
import { ServiceAccount } from 'kubernetes-models/v1';
import type { Manifest } from './synth';

interface Kind {
  readonly validate: (manifest: Manifest) => void;
  readonly known: (fields: Manifest) => object | undefined;
}

const kinds: Record<string, Kind> = {
  CronJob: { validate: (manifest) => new CronJob(manifest).validate(), known: k8s.toJson_KubeCronJobProps },
  Job: { validate: (manifest) => new Job(manifest).validate(), known: k8s.toJson_KubeJobProps },
  ServiceAccount: {
    validate: (manifest) => new ServiceAccount(manifest).validate(),
    known: k8s.toJson_KubeServiceAccountProps,
  },
};

/** Throws unless Kubernetes' schema knows every field and value of the manifest. */
export function checkSchema(manifest: Manifest): void {
  const { apiVersion, kind, ...fields } = manifest;
  const { validate, known } = kinds[kind]!;
  validate(manifest);
  // Writing it with typed objects drops the fields that Kubernetes does not have.
  expect({ apiVersion, kind, ...known(withQuantities(fields)) }).toEqual(manifest);
}

/** The typed objects want quantities as objects. */
function withQuantities(value: Manifest): Manifest {
  if (Array.isArray(value)) return value.map(withQuantities);
  if (value === null || typeof value !== 'object') return value;
  return mapValues(value, (item, key) =>
    key === 'resources' ? mapValues(item, (amounts) => mapValues(amounts, quantity)) : withQuantities(item),
  );
}

const quantity = (amount: string) => k8s.Quantity.fromString(amount);

function mapValues(object: object, change: (value: Manifest, key: string) => unknown): object {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
}

/** What the restricted Pod Security Standard forbids about a pod, control by control. */
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
