import { Chart, Testing } from 'cdk8s';
import { EtcdCluster, type EtcdClusterProps, EtcdResources, EtcdTls, EtcdVersion } from '../src';
import type { Manifest } from './synth';

/** A chart with one cluster, `shop/orders`. */
export function cluster(props?: EtcdClusterProps, namespace?: string): EtcdCluster {
  return new EtcdCluster(new Chart(Testing.app(), 'shop', { namespace }), 'orders', props);
}

/** All objects of the cluster's chart. */
export function manifestsOf(cluster: EtcdCluster): Manifest[] {
  return Testing.synth(Chart.of(cluster));
}

/** The one object of a kind, and of a name where there are several. */
export function objectOf(cluster: EtcdCluster, kind: string, name?: string): Manifest {
  const found = manifestsOf(cluster).filter(
    (manifest) => manifest.kind === kind && (name === undefined || manifest.metadata.name === name),
  );
  if (found.length !== 1) throw new Error(`there are ${found.length} of ${kind} ${name ?? ''}`);
  return found[0];
}

export function templateOf(cluster: EtcdCluster): Manifest {
  return objectOf(cluster, 'StatefulSet').spec.template;
}

export function containersOf(cluster: EtcdCluster): Record<'gate' | 'agent' | 'etcd', Manifest> {
  const { initContainers, containers } = templateOf(cluster).spec;
  const [gate, agent] = initContainers;
  return { gate, agent, etcd: containers[0] };
}

export const tlsSecrets = { peer: 'orders-peer', server: 'orders-server', client: 'orders-client' };

/** The same with those that users of etcd need. */
export const userSecrets = { ...tlsSecrets, root: 'orders-root', backup: 'orders-backup' };

/** One cluster of each sort: their manifests differ in more than values. */
export const sorts: readonly (readonly [string, () => EtcdCluster])[] = [
  ['without properties', () => cluster()],
  ['without TLS', () => cluster({ tls: EtcdTls.none() })],
  ['that TLS is switched off in', () => cluster({ tls: EtcdTls.none({ previous: EtcdTls.managed() }) })],
  ['with TLS from Secrets', () => cluster({ tls: EtcdTls.fromSecrets(tlsSecrets) })],
  ['with TLS from Secrets, for users', () => cluster({ tls: EtcdTls.fromSecrets(userSecrets) })],
  ['with TLS from cert-manager', () => cluster({ tls: EtcdTls.certManager({ issuer: 'ca' }) }, 'shop')],
  ['with ephemeral volumes', () => cluster({ volume: { ephemeral: true } })],
  ['of one member of 3.5', () => cluster({ size: 1, version: EtcdVersion.V3_5, resources: EtcdResources.SMALL })],
];
