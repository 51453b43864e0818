import { X509Certificate } from 'node:crypto';
import { EtcdTls } from '../../src';
import { Play, tell } from '../e2e/watch/play';
import { StatusWatch } from '../e2e/watch/status-watch';
import type { Manifest } from '../synth';
import { certManagerTest, installCertManager, issuers as ofGuide } from './support/cert-manager';
import { follows, issuers, move, presented, provide, text, trustSecret } from './support/sources';

// The controller of cert-manager issues and renews the certificates of a cluster: of a new one, and of one that had certificates of
// the reconciler before.

const certificates = ['peer', 'server', 'client', 'root', 'backup'].map((leaf) => `orders-${leaf}-cert`);
const issuedByCertManager = new Set(Object.values(ofGuide));

const certManager = EtcdTls.certManager(ofGuide);

describe('a new cluster', () => {
  let play: Play;
  beforeAll(async () => {
    play = await Play.begin('cert-manager', {
      ...{ tls: true, known: 3, prepare: installCertManager, props: { tls: certManager } },
      // Mounted as an application of the same namespace does, so that it follows renewals.
      clientTlsSecret: async () => 'orders-client-cert',
    });
  });
  afterAll(() => play?.end());

  const certificateIn = async (name: string) => text(await play.namespace.get('secret', name), 'tls.crt');
  const serials = async (names: readonly string[]) =>
    Promise.all(names.map(async (name) => new X509Certificate(await certificateIn(name)).serialNumber));
  const containers = async () =>
    (await play.cluster.pods()).flatMap(({ metadata, status }) =>
      status.containerStatuses.map(({ name, restartCount }: Manifest) => [metadata.uid, name, restartCount]),
    );

  /** Each root that the status says a member trusts. */
  async function loaded(): Promise<object> {
    const { members } = (await play.cluster.resource()).status;
    const [one, ...others] = members.map(({ loaded }: Manifest) => loaded);
    expect(others).toEqual([one, one]);
    return one;
  }

  /** As the status shows the root of a `ca.crt`. */
  async function rootOf(name: string): Promise<string> {
    const { fingerprint256 } = new X509Certificate(text(await play.namespace.get('secret', name), 'ca.crt'));
    return fingerprint256.replaceAll(':', '').toLowerCase().slice(0, 16);
  }
  const rootsInSecrets = async () => ({
    peerRoot: await rootOf('orders-peer-cert'),
    clientRoot: await rootOf('orders-server-cert'),
  });

  /** Asks for a renewal as `cmctl renew` does, and waits until cert-manager has issued. */
  async function renew(...names: string[]): Promise<void> {
    const before = await serials(names);
    const issuing = {
      ...{ type: 'Issuing', status: 'True', reason: 'ManuallyTriggered', message: 'asked for by the test' },
      lastTransitionTime: new Date().toISOString().replace(/\.\d+/, ''),
    };
    const patch = JSON.stringify([{ op: 'add', path: '/status/conditions/-', value: issuing }]);
    for (const name of names)
      await play.namespace.kubectl([
        ...['patch', 'certificate', name, '--subresource=status', '--type=json', '--patch', patch],
      ]);
    await issued(names, before);
  }

  async function issued(names: readonly string[], before: readonly string[]): Promise<void> {
    await play.namespace.until(`other certificates in ${names.join()}`, 120, async () => {
      const now = await serials(names).catch(() => []);
      return now.length === names.length && now.every((serial) => !before.includes(serial)) ? now : undefined;
    });
  }

  /** Waits until every member presents the certificates of the Secrets on both ports. kubelet takes a minute or two. */
  async function inUse(): Promise<void> {
    const wanted = (await serials(['orders-peer-cert', 'orders-server-cert'])).sort().join();
    await play.namespace.until('every member to present the new certificates', 240, async () => {
      const now = await presented(play);
      const own = [...new Set(now.map(({ serial }) => serial))].sort().join();
      return now.length === 6 && own === wanted ? now : undefined;
    });
  }

  /** etcd reads its CAs when it starts, and the status says so of each member. */
  async function mustRestart(): Promise<void> {
    const { message } = await play.namespace.until('CertificatesReady RootNotLoaded of each member', 120, async () => {
      const found = await play.cluster.condition('CertificatesReady');
      const named = [0, 1, 2].every((ordinal) => found?.message.includes(play.cluster.pod(ordinal)));
      return found?.reason === 'RootNotLoaded' && named ? found : undefined;
    });
    tell(`cert-manager: ${message}`);
  }

  /** No container restarts, no write fails, and the cluster is Ready all the time. */
  async function renewed(what: string, work: () => Promise<unknown>): Promise<void> {
    const before = await containers();
    using watch = new StatusWatch(play.namespace, 'orders');
    await play.unnoticed(what, 3, async () => {
      await work();
      await inUse();
    });
    expect(await containers()).toEqual(before);
    const ready = watch.of('Ready');
    tell(`cert-manager: Ready was ${ready.join(', ')}`);
    expect(ready.every((said) => said.startsWith('True'))).toBe(true);
  }

  certManagerTest('comes up by itself, with certificates of the Issuers', async () => {
    expect(await issuers(play)).toEqual(issuedByCertManager);
    await inUse();
    expect(await loaded()).toEqual(await rootsInSecrets());
    // The reconciler does not issue them, and nothing is wrong with them.
    expect(await play.cluster.condition('CertificatesReady')).toBeUndefined();
    expect((await play.cluster.condition('TransportReady'))?.reason).toBe('Tls');
  });

  certManagerTest('goes on while all certificates are renewed', async () => {
    const before = await loaded();
    await renewed('all renewed', () => renew(...certificates));
    expect(await loaded()).toEqual(before);
  });

  certManagerTest('goes on while the Secrets are deleted and issued again', async () => {
    await renewed('Secrets deleted', async () => {
      const before = await serials(certificates);
      await play.namespace.kubectl(['delete', 'secret', ...certificates]);
      await issued(certificates, before);
    });
  });

  certManagerTest('goes on while its CAs are renewed with their keys', async () => {
    const before = await loaded();
    await renewed('CAs renewed', async () => {
      await renew(...issuedByCertManager);
      await renew(...certificates);
    });
    expect(await loaded()).toEqual(before);
    await mustRestart();
    await play.unnoticed('a restart for the CAs', 3, async () => {
      await play.cluster.apply({ podAnnotations: { cas: 'renewed' } });
      await play.namespace.until('every member to restart', 480, async () => {
        const pods = await play.cluster.pods();
        return pods.length === 3 && pods.every(({ metadata }) => metadata.annotations.cas) ? pods : undefined;
      });
    });
    expect(await loaded()).toEqual(await rootsInSecrets());
    expect(await play.cluster.condition('CertificatesReady')).toBeUndefined();
  });

  certManagerTest('says what to do when its CAs have other keys, and serves again after that', async () => {
    const policy = JSON.stringify({ spec: { privateKey: { rotationPolicy: 'Always' } } });
    for (const ca of issuedByCertManager)
      await play.namespace.kubectl(['patch', 'certificate', ca, '--type=merge', '--patch', policy]);
    await play.converges('CAs with other keys', 3, async () => {
      await renew(...issuedByCertManager);
      await renew(...certificates);
      await inUse();
      await mustRestart();
      const labels = 'app.kubernetes.io/instance=orders,app.kubernetes.io/component=member';
      await play.namespace.kubectl(['delete', 'pod', '-l', labels]);
    });
    expect(await loaded()).toEqual(await rootsInSecrets());
    expect(await play.cluster.condition('CertificatesReady')).toBeUndefined();
  });

  certManagerTest('has every acknowledged write in the end', () => play.ends(3));
});

describe('a cluster with certificates of the reconciler', () => {
  const managed = EtcdTls.managed();
  const issuedByReconciler = new Set(['orders clients CA', 'orders peers CA']);
  const managedTrustingCertManager = EtcdTls.managed({ alsoTrust: certManager });
  const certManagerTrustingManaged = EtcdTls.certManager({ ...ofGuide, alsoTrust: managed });

  let play: Play;
  beforeAll(async () => {
    play = await Play.begin('to-cert-manager', {
      ...{ tls: true, known: 3, prepare: installCertManager },
      clientTlsSecret: (namespace) => provide(namespace, 'orders-client-tls'),
    });
  });
  afterAll(() => play?.end());

  certManagerTest('gets them from cert-manager while it serves', async () => {
    await follows(play, 'both trusted', managedTrustingCertManager);
    expect(await issuers(play)).toEqual(issuedByReconciler);
    await move(play.namespace, 'orders-client-tls', trustSecret);
    await follows(play, 'to cert-manager', certManagerTrustingManaged);
    expect(await issuers(play)).toEqual(issuedByCertManager);
    await move(play.namespace, 'orders-client-cert', trustSecret);
    await follows(play, 'cert-manager alone', certManager);
    await move(play.namespace, 'orders-client-cert');
    await play.writesOn();
  });

  certManagerTest('and gets them from the reconciler again', async () => {
    await follows(play, 'both trusted', certManagerTrustingManaged);
    await move(play.namespace, 'orders-client-cert', trustSecret);
    await follows(play, 'to the reconciler', managedTrustingCertManager);
    expect(await issuers(play)).toEqual(issuedByReconciler);
    await move(play.namespace, 'orders-client-tls', trustSecret);
    await follows(play, 'the reconciler alone', managed);
    await move(play.namespace, 'orders-client-tls');
    await play.writesOn();
    expect((await play.cluster.condition('CertificatesReady'))?.status).toBe('True');
  });

  certManagerTest('has every acknowledged write in the end', () => play.ends(3));
});
