import type { EtcdClusterProps } from '../cluster/etcd-cluster-props';
import { clientServiceName } from '../etcd/client-service-name';
import { defaultSize } from '../lib/defaults';
import type { Document } from './documents';
import type { OldCluster } from './plan';

/** `size` of an older operator's cluster. */
export function oldSize({ spec, report }: Document): Pick<EtcdClusterProps, 'size' | 'allowEvenSize'> {
  const size = spec.integer('size');
  if (size === undefined) {
    report.note('spec.size', `is not given; ${defaultSize} members`);
    return {};
  }
  if (size % 2 !== 0) return { size };
  report.note('spec.size', `${size} members survive no more failures than ${size - 1}; better make it odd`);
  return { size, allowEvenSize: true };
}

/** What everybody who moves from another operator's cluster has to know. */
export function noteMove({ name, report }: Document, objects: string, clientHost: string): void {
  report.note(
    'metadata.name',
    `the old cluster has ${objects} '${name}', as the new one does; apply this to another namespace (--namespace), or once the old cluster is deleted`,
  );
  report.note(
    'metadata.name',
    `clients find the new cluster at ${clientServiceName(`${name}-0`)}:2379 and so on, or at ${name}:2379, no longer at ${clientHost}`,
  );
}

/** Names under which clients reach a cluster: `host`, `host.NAMESPACE`, `host.NAMESPACE.svc…`. */
export function hostsOf(document: Document, isHost: (host: string) => boolean): OldCluster {
  const suffix = /\.(?<namespace>[^.]+)(?:\.svc(?:\..+)?)?$/;
  return {
    isEndpoint(endpoint) {
      const [, name] = /^(?:https?:\/\/)?([^/:]+)(?::\d+)?\/?$/.exec(endpoint) ?? [];
      if (name === undefined) return false;
      if (isHost(name)) return true;
      const namespace = suffix.exec(name)?.groups?.namespace;
      const own = document.namespace === undefined || namespace === document.namespace;
      return own && isHost(name.replace(suffix, ''));
    },
  };
}
