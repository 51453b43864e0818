import { memberSelector } from './cluster-labels';
import { ports } from './cluster-ports';

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

function port(name: keyof typeof ports): object {
  // A name in place of the number would have to be found in each container.
  return { name, port: ports[name], targetPort: ports[name], protocol: 'TCP' };
}
