// The Services through which clients reach a cluster, with the names that Kubernetes gives their fields.
import { annotations, furtherLabels } from './pods.mjs';
import { choice, cidr, integer, list, mapBy, matching, named, object, rules } from './schema.mjs';

const nodePort = integer('The port on each node, one of those that Kubernetes has for this.', 1, 65_535);
const common = {
  labels: furtherLabels('Further labels.'),
  annotations: annotations('Further annotations, such as those of a cloud or of external-dns.'),
  loadBalancerClass: matching(
    'The class of the load balancer. It cannot be changed later.',
    253,
    /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/,
    'is not a valid class of load balancers: write it like example.com/internal',
  ),
  loadBalancerSourceRanges: list(
    'The addresses of clients that the load balancer lets through. Default: all.',
    cidr('A range of addresses.'),
    0,
    64,
  ),
  externalTrafficPolicy: choice(
    'Whether traffic from outside may reach the member by way of another node. Default: Cluster.',
    ['Cluster', 'Local'],
  ),
};

const isBalanced = "has(self.type) && self.type == 'LoadBalancer'";
const isExternal = "has(self.type) && self.type in ['LoadBalancer', 'NodePort']";
const only = (field, holds, types) => [
  `!has(self.${field}) || (${holds})`,
  `${field} has an effect only with type ${types}: set that, or remove it`,
  { fieldPath: `.${field}` },
];
const balanced = [
  only('loadBalancerClass', isBalanced, 'LoadBalancer'),
  only('loadBalancerSourceRanges', isBalanced, 'LoadBalancer'),
];

export const service = named(
  'ServiceSpec',
  object(
    'The Service with the name of the cluster, which leads to all ready members.',
    {
      type: choice('Its type. Default: ClusterIP.', ['ClusterIP', 'NodePort', 'LoadBalancer']),
      ...common,
      internalTrafficPolicy: choice(
        'Whether traffic from a pod may reach a member on another node. Default: Cluster.',
        ['Cluster', 'Local'],
      ),
      nodePort,
    },
    rules(
      ...balanced,
      only('externalTrafficPolicy', isExternal, 'LoadBalancer or NodePort'),
      only('nodePort', isExternal, 'LoadBalancer or NodePort'),
    ),
  ),
);

export const externalServices = named(
  'ExternalServicesSpec',
  object(
    'A Service for clients outside of Kubernetes for each member: <cluster>-<ordinal>-external. The certificate of members must have their names: serverNames of tls.managed or tls.certManager. Default: none.',
    {
      'type!': choice('Their type.', ['NodePort', 'LoadBalancer']),
      ...common,
      members: list(
        'What the Services of single members have besides.',
        object('A Service.', {
          'ordinal!': integer('The ordinal of its member.', 0, 6),
          annotations: annotations('Its annotations.'),
          nodePort,
        }),
        0,
        7,
        mapBy('ordinal'),
      ),
    },
    rules(...balanced),
  ),
);
