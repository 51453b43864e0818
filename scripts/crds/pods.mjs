// The fields of pods that a cluster, a schedule and a reconciler share, with the names that Kubernetes gives them.
import { choice, integer, list, matching, named, object, objectName, text } from './schema.mjs';

const map = (description, value, more = {}) => ({
  type: 'object',
  description,
  maxProperties: 64,
  additionalProperties: value,
  ...more,
});

const label = matching(
  'A value.',
  63,
  /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/,
  "is not a valid value of a label: use up to 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit",
);

export const labels = (description) => map(description, label);
export const annotations = (description) => map(description, { type: 'string', maxLength: 16_384 });

export const image = (description) => text(description, 1024, { minLength: 1 });

export const registry = matching(
  'A registry that mirrors the default images. It replaces gcr.io and ghcr.io.',
  253,
  /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?(\/[a-z0-9._-]+)*$/,
  'is not a valid registry: write it like registry.example.com/mirror, without https:// and without a / at the end',
);

export const images = {
  imagePullPolicy: choice('When a node pulls the images. Default: IfNotPresent.', ['Always', 'IfNotPresent', 'Never']),
  imagePullSecrets: list(
    'The Secrets with registry credentials.',
    named('LocalObjectReference', object('A Secret.', { 'name!': objectName('Its name.', 'Secret') })),
    0,
    16,
  ),
};

const toleration = named(
  'TolerationSpec',
  object('A taint that is tolerated.', {
    key: text('The key of the taint. Without it, operator must be Exists.', 317),
    operator: choice('How the value of the taint is compared. Default: Equal.', ['Exists', 'Equal']),
    value: { ...label, description: 'The value of the taint, for Equal.' },
    effect: choice('The effect of the taint. Default: every effect.', ['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
    tolerationSeconds: integer(
      'The number of seconds that the pod stays on the node, for NoExecute. Default: without limit.',
      0,
    ),
  }),
);

/** Where pods run. */
export const placement = {
  nodeSelector: labels('The labels that a node must have. Default: any node.'),
  tolerations: list('The taints that the pods tolerate.', toleration, 0, 64),
  priorityClassName: objectName('The PriorityClass of the pods.', 'PriorityClass'),
};
