import { JsonPatch, Size } from 'cdk8s';
import { EtcdCluster, EtcdTls, EtcdVersion, ImagePullPolicy } from '../../../src';
import { peerNames, serverNames } from '../../../src/tls/certificates';
import { tlsSecretNames } from '../../../src/tls/default-names';
import { Authority } from '../../e2e/support/certificates';
import type { Parts } from '../../e2e/support/member-cluster';
import type { Namespace } from '../../e2e/support/namespace';
import { agentImage } from '../../e2e/support/settings';
import { addMonitoring } from './monitored';

/** Clusters of one member, each with a fault from its first moment on, under the reconciler of another cluster. */
export const names = { noImage: 'no-image', gated: 'gated', expiring: 'expiring' } as const;

export class Beside {
  /** Faults that still are there. */
  readonly #faulty = new Set<string>(Object.values(names));
  readonly #namespace: Namespace;
  readonly #authority: Authority;

  static async prepare(namespace: Namespace): Promise<Beside> {
    const beside = new Beside(namespace, await Authority.create());
    await beside.certify(-95, 3);
    return beside;
  }

  private constructor(namespace: Namespace, authority: Authority) {
    this.#namespace = namespace;
    this.#authority = authority;
  }

  add({ chart, reconciler }: Parts): void {
    for (const name of Object.values(names)) {
      const cluster = new EtcdCluster(chart, name, {
        ...{ reconciler, agentImage, imagePullPolicy: ImagePullPolicy.IF_NOT_PRESENT, size: 1 },
        ...{ version: EtcdVersion.of('3.6.16'), volume: { size: Size.gibibytes(2) } },
        tls: name === names.expiring ? EtcdTls.fromSecrets(secrets(name)) : EtcdTls.none(),
        ...(name === names.noImage && this.#faulty.has(name) && { image: 'registry.invalid/etcd:v3.6.16' }),
      });
      // As by a load balancer that has not taken up the pod yet.
      const gates = JsonPatch.add('/spec/template/spec/readinessGates', [{ conditionType: gate }]);
      if (name === names.gated) cluster.statefulSet.addJsonPatch(gates);
      addMonitoring({ cluster });
    }
  }

  /** From the next apply on. */
  giveImage(): void {
    this.#faulty.delete(names.noImage);
  }

  async openGate(): Promise<void> {
    const conditions = [{ type: gate, status: 'True' }];
    const patch = JSON.stringify({ status: { conditions } });
    await this.#namespace.kubectl(['patch', 'pod', `${names.gated}-0`, '--subresource=status', '-p', patch]);
  }

  /** Certificates that begin and end this many days from now. */
  async certify(from: number, to: number): Promise<void> {
    const at = (days: number) => new Date(Date.now() + days * 86_400_000);
    const dates = { notBefore: at(from), notAfter: at(to) };
    const name = names.expiring;
    const known = { name, namespace: this.#namespace.name, clusterDomain: 'cluster.local' };
    const { peer, server, client } = secrets(name);
    const secret = (...[secretName, hosts]: [string, string[]?]) =>
      this.#authority.secret(secretName, hosts, secretName, dates);
    await this.#namespace.apply([
      await secret(peer, peerNames(known)),
      await secret(server, serverNames(known)),
      await secret(client),
    ]);
  }
}

const gate = 'cdk8s-etcd.test/taken-up';

/** Without a certificate of root: the cluster has no users. */
function secrets(name: string) {
  const { peer, server, client } = tlsSecretNames(name);
  return { peer, server, client };
}
