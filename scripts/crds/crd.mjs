// Builds a CustomResourceDefinition.

export const group = 'cdk8s-etcd.dev';

export const column = (name, jsonPath, more = {}) => ({ name, jsonPath, type: 'string', ...more });

/** The columns for the reason and the message below a path. */
export const reasonColumnsOf = (field) => [
  column('Reason', field('reason'), { description: 'The reason, in one word.' }),
  column('Message', field('message'), { description: 'The reason in full, and what to do.', priority: 1 }),
];
export const reasonColumns = reasonColumnsOf((name) => `.status.${name}`);
export const ageColumn = column('Age', '.metadata.creationTimestamp', { type: 'date' });

// No generation is 0: by that kstatus, and so Flux, knows that the object has not been seen.
const notSeen = {
  observedGeneration: 0,
  phase: 'Pending',
  reason: 'NotSeen',
  message:
    'no reconciler has reported a status yet; check that one is running: kubectl get pods -l app.kubernetes.io/name=etcd-reconciler',
};

/** A kind that is not a resource of the API server: only `render` reads it. It has the form of a definition. */
export const rendered = (definition) =>
  crd({ ...definition, plural: `${definition.kind.toLowerCase()}s`, status: undefined });

/** True for a kind of the API server. */
export const isApplied = ({ spec }) => spec.versions[0].schema.openAPIV3Schema.properties.status !== undefined;

/** `unseen` returns the status of an object that no reconciler has reported on, from the usual one. */
export function crd({ kind, plural, shortName, columns, scale, ...definition }) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { 'app.kubernetes.io/part-of': 'cdk8s-etcd' } },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: [shortName],
        categories: ['etcd-all'],
      },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {}, ...(scale && { scale }) },
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: schema(definition) },
        },
      ],
    },
  };
}

function schema({ description, spec, status, rules, nameLength, unseen = (usual) => usual }) {
  return {
    type: 'object',
    description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      // Rules about the name are allowed only if its length is limited.
      metadata: { type: 'object', properties: { name: { type: 'string', maxLength: nameLength } } },
      spec,
      // The API server sets it until a reconciler reports. Without it kubectl shows an empty row if no reconciler runs.
      ...(status && { status: { ...status, default: unseen(notSeen) } }),
    },
    ...rules,
  };
}
