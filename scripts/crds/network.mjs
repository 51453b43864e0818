// Who may connect to pods, and to what they may connect.
import { labels } from './pods.mjs';
import { cidr, flag, integer, list, named, namespaceName, object, rules, withDefault } from './schema.mjs';

const peerFields = {
  podLabels: labels('The labels of the pods. {} means every pod.'),
  namespace: namespaceName('The namespace of the pods. Default: that of the cluster, unless namespaceLabels is given.'),
  namespaceLabels: labels('The labels of the namespaces of the pods. {} means every namespace.'),
  cidr: cidr('A range of addresses, such as 10.0.0.0/8, for what is not a pod.'),
};

// CEL before Kubernetes 1.31 knows the reserved word namespace only in this form.
const peerRules = rules(
  [
    'has(self.cidr) != (has(self.podLabels) || has(self.__namespace__) || has(self.namespaceLabels))',
    'a peer is either pods (podLabels, namespace, namespaceLabels) or addresses (cidr): give one of the two, or use two peers',
  ],
  [
    '!has(self.__namespace__) || !has(self.namespaceLabels)',
    'namespace cannot be combined with namespaceLabels: remove one',
  ],
);

const peer = named('NetworkPeerSpec', object('Pods or addresses.', peerFields, peerRules));

export const networkAccess = (description) =>
  named(
    'NetworkAccessSpec',
    object(
      description,
      {
        anywhere: flag('Every client that can reach the pods. It can only be true.', { enum: [true] }),
        peers: list('The clients that may connect. An empty list means nobody.', peer, 0, 64),
      },
      rules(['has(self.anywhere) != has(self.peers)', 'give either peers or anywhere: true']),
    ),
  );

const destinations = (description, least) =>
  list(
    description,
    named(
      'NetworkDestinationSpec',
      object(
        'Pods or addresses, and their ports.',
        {
          ...peerFields,
          ports: list('The TCP ports. Default: every port of every protocol.', integer('A port.', 1, 65_535), 1, 32),
        },
        peerRules,
      ),
    ),
    least,
    32,
  );

export const egress = named(
  'NetworkEgressSpec',
  object(
    'The connections that the members and the Jobs of the cluster may open, besides those to each other. Default: all.',
    {
      'apiServer!': destinations('The API servers: the addresses and ports in `kubectl get endpoints kubernetes`.', 1),
      dns: withDefault(
        [{ namespace: 'kube-system', podLabels: { 'k8s-app': 'kube-dns' }, ports: [53] }],
        destinations('The DNS servers.', 1),
        'the pods k8s-app: kube-dns in the namespace kube-system, port 53',
      ),
      stores: destinations('The backup stores, and what they need, such as a proxy. Default: none.', 0),
    },
  ),
);
