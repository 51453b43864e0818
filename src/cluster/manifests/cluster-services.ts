import { ports } from '../../etcd/cluster-ports';
import { memberSelector } from './cluster-labels';

/** The ServiceSpec that gives each member its DNS name, ready or not: members find each other before they are. */
export function peerService(cluster: string): object {
  return {
    clusterIP: 'None',
    publishNotReadyAddresses: true,
    selector: memberSelector(cluster),
    ports: [port('peer'), port('client'), port('agent'), port('metrics')],
  };
}

/** The ServiceSpec for clients: the ready members. */
export function clientService(cluster: string): object {
  return { selector: memberSelector(cluster), ports: [port('client')] };
}

/**
 * The ServiceSpec that gives one member a name for clients, while it is ready. A member that is not may be about to lose
 * what it is told, as the first one of a restore; and Kubernetes names single pods in one Service alone, that of the peers.
 */
export function memberService(cluster: string, pod: string): object {
  return {
    clusterIP: 'None',
    selector: { ...memberSelector(cluster), 'statefulset.kubernetes.io/pod-name': pod },
    ports: [port('client')],
  };
}

function port(name: keyof typeof ports): object {
  // A name in place of the number would have to be found in each container.
  return { name, port: ports[name], targetPort: ports[name], protocol: 'TCP' };
}
