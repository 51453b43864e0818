// Kubernetes' own shapes, whose fields and types are those of its OpenAPI. kubernetes-shapes.json has them without descriptions.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { owned } from '../../src/overrides/owned-fields.ts';
import { list, mapBy, named, nameOf, rules, whole } from './schema.mjs';

const shapes = JSON.parse(readFileSync(join(import.meta.dirname, 'kubernetes-shapes.json'), 'utf8'));
const made = new Map();

/** The name of a shape of Kubernetes, or undefined. */
export const kubernetesName = (schema) =>
  /^Kubernetes(?:Checked)?(.*)$/.exec(nameOf(schema[whole] ?? schema) ?? '')?.[1];

/** A shape with rules of ours has a name of its own: Kubernetes' shapes refer to the one without. */
const checked = (name, schema) => named(`KubernetesChecked${name}`, schema);

/** Returns a shape in which each reference is replaced by what it refers to. */
function shape(name) {
  if (!made.has(name)) made.set(name, named(`Kubernetes${name}`, resolved(shapes[name])));
  return made.get(name);
}

function resolved(node) {
  if (node.$ref) return shape(node.$ref);
  const { properties, items, additionalProperties } = node;
  return {
    ...node,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, resolved(each)])),
    }),
    ...(items && { items: resolved(items) }),
    ...(additionalProperties && { additionalProperties: resolved(additionalProperties) }),
  };
}

export const kubernetes = (name, description) => ({ ...shape(name), description });

/** A shape whose texts have a maximum length, without which the API server refuses a rule about them. */
function withLengths(name, lengths, ...all) {
  const { properties, ...rest } = shape(name);
  const limited = Object.entries(lengths).map(([field, maxLength]) => [field, { ...properties[field], maxLength }]);
  return checked(name, { ...rest, properties: { ...properties, ...Object.fromEntries(limited) }, ...rules(...all) });
}

/**
 * A shape that would be too large for a CustomResourceDefinition: the API server keeps such an object as it is, while the
 * constructs, `render` and editors check it. `known`: the fields that rules use.
 */
const large = (name, description, known, ...all) => {
  const properties = { name: { type: 'string', maxLength: 63 }, ...known };
  return {
    [whole]: checked(name, { ...limited(shape(name), { properties }), description, ...rules(...all) }),
    type: 'object',
    description,
    required: ['name'],
    properties,
    'x-kubernetes-preserve-unknown-fields': true,
    ...rules(...all),
  };
};

/** A shape with the limits of the fields that are known. It is no longer the one that others refer to. */
function limited(full, { properties = {}, items, maxLength, maxItems }) {
  const known = Object.entries(properties).map(([field, each]) => [field, limited(full.properties[field], each)]);
  return named(undefined, {
    ...full,
    ...(maxLength && { maxLength }),
    ...(maxItems && { maxItems }),
    ...(known.length > 0 && { properties: { ...full.properties, ...Object.fromEntries(known) } }),
    ...(items && { items: limited(full.items, items) }),
  });
}

const environment = withLengths(
  'EnvVar',
  { name: 256 },
  [
    `!self.name.matches('${owned.variables}')`,
    'name is that of a variable that the agent needs, or of an option of etcd: choose another name, or use settings',
    { fieldPath: '.name' },
  ],
  [
    "!has(self.valueFrom) || !has(self.value) || self.value == ''",
    'value cannot be combined with valueFrom: remove one of them',
    { fieldPath: '.value' },
  ],
);

const fromObject = withLengths('EnvFromSource', { prefix: 64 }, [
  `!has(self.prefix) || !self.prefix.matches('${owned.prefixes}')`,
  'prefix makes variables ETCD_…, which the agent and etcd read as options: choose another prefix',
  { fieldPath: '.prefix' },
]);

const mount = withLengths(
  'VolumeMount',
  { name: 63, mountPath: 1024 },
  [
    `!self.mountPath.matches('${owned.mountPaths}')`,
    'mountPath is in a directory that the pod needs, or not a plain absolute path: choose another path',
    { fieldPath: '.mountPath' },
  ],
  [
    "self.name != 'data'",
    'name is that of the volume with the data of etcd: use another volume',
    { fieldPath: '.name' },
  ],
);

const volume = large(
  'Volume',
  'A volume.',
  {
    persistentVolumeClaim: {
      type: 'object',
      properties: { claimName: { type: 'string', maxLength: 253 } },
      'x-kubernetes-preserve-unknown-fields': true,
    },
  },
  [
    `!self.name.matches('${owned.volumes}')`,
    'name is that of a volume that the pod has: choose another name',
    { fieldPath: '.name' },
  ],
  [
    `!has(self.persistentVolumeClaim) || !has(self.persistentVolumeClaim.claimName) || !self.persistentVolumeClaim.claimName.matches('${owned.claims}')`,
    'persistentVolumeClaim is one with the data of a member, which only its pod may use: use another claim',
    { fieldPath: '.persistentVolumeClaim' },
  ],
);

const mounts = { type: 'array', maxItems: 64, items: shape('VolumeMount') };
const container = large(
  'Container',
  'A container.',
  {
    volumeMounts: {
      ...mounts,
      items: {
        type: 'object',
        properties: { name: { type: 'string', maxLength: 63 } },
        'x-kubernetes-preserve-unknown-fields': true,
      },
    },
  },
  [
    `!self.name.matches('${owned.containers}')`,
    'name is that of a container that the pod has: choose another name, or set its fields where they belong',
    { fieldPath: '.name' },
  ],
  [
    "!has(self.volumeMounts) || self.volumeMounts.all(each, !has(each.name) || each.name != 'data')",
    'volumeMounts has the volume with the data of etcd, which only etcd and its agent may use: remove it',
    { fieldPath: '.volumeMounts' },
  ],
);

const byName = mapBy('name');
export const env = list('Further variables.', { ...environment, description: 'A variable.' }, 0, 64, byName);
export const envFrom = list(
  'ConfigMaps and Secrets whose keys become variables. No key may begin with ETCD_.',
  { ...fromObject, description: 'A ConfigMap or a Secret.' },
  0,
  16,
);
export const volumeMounts = list('Further mounts.', { ...mount, description: 'A mount.' }, 0, 32, mapBy('mountPath'));
export const volumes = list('Further volumes of the pods.', volume, 0, 32, byName);
export const containers = (description) => list(description, container, 0, 16, byName);
export const hostAliases = list('Further lines of /etc/hosts.', kubernetes('HostAlias', 'A line.'), 0, 64, mapBy('ip'));
export const topologySpreadConstraints = (description) =>
  list(description, kubernetes('TopologySpreadConstraint', 'A constraint.'), 0, 16);
