import { rendered } from './crd.mjs';
import { reconcilerMonitoring } from './monitoring.mjs';
import { egress, networkAccess } from './network.mjs';
import { overrides } from './overrides.mjs';
import {
  annotations,
  dnsRule,
  furtherLabels,
  image,
  images,
  labels,
  metadata,
  placement,
  podAnnotations,
  podFields,
  podRules,
  reconcilerContainer,
  registry,
  sidecars,
} from './pods.mjs';
import { integer, object, objectName, rules, withDefault } from './schema.mjs';
import { resources } from './store.mjs';

const spec = object(
  'The reconciler of a namespace. {} has the default of each field.',
  {
    image: image('The image of the agent. Default: the image of the release.'),
    registry,
    ...images,
    replicas: withDefault(
      1,
      integer('The number of pods. With 2, the second takes over when the first is lost.', 1, 2),
    ),
    resources: withDefault(
      { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '256Mi' } },
      resources(
        'The CPU and memory of the pod. A request stands for a missing limit of memory, and a limit for a missing request.',
      ),
      'requests of 50m and 128Mi, and a limit of 256Mi of memory',
    ),
    selector: labels(
      'The labels of the EtcdClusters that it manages. Each of these must name it in spec.reconciler. Default: all of the namespace.',
    ),
    metricsAccess: withDefault({ peers: [] }, networkAccess('The clients that may read its metrics.'), 'nobody'),
    egress: {
      ...egress,
      description:
        'The connections that the pod may open, besides those to the members and Jobs of its namespace. stores has no effect here. Default: all.',
    },
    ...placement,
    ...podFields,
    container: reconcilerContainer,
    sidecars,
    serviceAccountName: objectName(
      'An existing ServiceAccount, which gets the rights that the reconciler needs. Default: one that is created, with the name of the reconciler.',
      'ServiceAccount',
    ),
    serviceAccountAnnotations: annotations('The annotations of the ServiceAccount that is created.'),
    labels: furtherLabels('Further labels of every object and of the pod.'),
    ...metadata,
    podAnnotations,
    revisionHistoryLimit: withDefault(10, integer('How many former revisions of the Deployment are kept.', 0, 100)),
    overrides: overrides('ReconcilerOverrideSpec', ['ReconcilerPods', 'Deployment', 'Services', 'ServiceAccounts']),
    monitoring: reconcilerMonitoring,
  },
  rules(
    [
      '!has(self.selector) || self.selector.size() > 0',
      'selector is empty: give a label, or leave it out to manage all clusters',
      { fieldPath: '.selector' },
    ],
    ...podRules,
    dnsRule,
  ),
);

export const etcdReconciler = rendered({
  kind: 'EtcdReconciler',
  description:
    'A reconciler, which manages the clusters of its namespace. `npx cdk8s-etcd render` makes its Deployment, which has the same name, and all other objects, also where no EtcdReconciler is in the input. It is not a resource of the API server.',
  nameLength: 50,
  spec,
  rules: rules([
    "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    "metadata.name is not a valid name of a reconciler: use lower-case letters, digits and '-', beginning with a letter",
  ]),
});
