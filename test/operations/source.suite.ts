import { EtcdTls } from '../../src';
import { peerNames, serverNames } from '../../src/tls/certificates';
import { Authority } from '../e2e/support/certificates';
import type { Namespace } from '../e2e/support/namespace';
import { Play, tell } from '../e2e/watch/play';
import { follows, issuers, move, provide, restarted, trustSecret } from './support/sources';

// The certificates of a living cluster come from another source, and then from the first one again, only by applying manifests.

const own = { peer: 'own-peer', server: 'own-server', client: 'own-client', root: 'own-root', backup: 'own-backup' };

const managed = EtcdTls.managed();
const secrets = EtcdTls.fromSecrets(own);
const managedTrustingSecrets = EtcdTls.managed({ alsoTrust: secrets });
const secretsTrustingManaged = EtcdTls.fromSecrets({ ...own, alsoTrust: managed });

let play: Play;
beforeAll(async () => {
  play = await Play.begin('source', {
    ...{ tls: true, known: 3, prepare: certify },
    clientTlsSecret: (namespace) => provide(namespace, 'orders-client-tls'),
  });
});
afterAll(() => play?.end());

async function certify(namespace: Namespace): Promise<void> {
  const authority = await Authority.create();
  const names = { name: 'orders', namespace: namespace.name, clusterDomain: 'cluster.local' };
  await namespace.apply([
    await authority.secret(own.peer, peerNames(names)),
    await authority.secret(own.server, serverNames(names)),
    await authority.secret(own.client),
    await authority.secret(own.root, [], 'root'),
    await authority.secret(own.backup, [], 'orders-backup'),
  ]);
}

const issuedByReconciler = new Set(['orders clients CA', 'orders peers CA']);
const uids = async () => (await play.cluster.pods()).map(({ metadata }) => metadata.uid).sort();

/** Waits for a refusal, and expects that no member restarts for a while. */
async function isRefused(reason: string, message: RegExp): Promise<void> {
  const { namespace, cluster } = play;
  const before = await uids();
  const accepted = await namespace.until(`Accepted ${reason}`, 120, async () => {
    const found = await cluster.condition('Accepted');
    return found?.reason === reason ? found : undefined;
  });
  expect(accepted).toMatchObject({ status: 'False', message: expect.stringMatching(message) });
  tell(`source: ${accepted.message}`);
  // Longer than a quorum must be away to be called lost.
  await new Promise((resolve) => setTimeout(resolve, 75_000));
  expect(await uids()).toEqual(before);
  expect((await cluster.condition('QuorumLost'))?.status).not.toBe('True');
  await play.writesOn();
}

test('another source in one step is refused by the API server, and no member restarts', async () => {
  await play.unnoticed('one step', 3, async () => {
    await expect(play.cluster.apply({ tls: secrets })).rejects.toThrow(
      /managed cannot be added or removed in one step/,
    );
    await isRefused('TemplateMismatch', /mounts the Secrets own-peer and own-server/);
    await play.cluster.apply({ tls: managed });
  });
  expect((await play.cluster.condition('Accepted'))?.status).toBe('True');
});

test('first both are trusted', async () => {
  await follows(play, 'both trusted', managedTrustingSecrets);
  expect(await issuers(play)).toEqual(issuedByReconciler);
  await move(play.namespace, 'orders-client-tls', trustSecret);
});

test('then the members have certificates of the other', async () => {
  await follows(play, 'to Secrets', secretsTrustingManaged);
  expect(await issuers(play)).toEqual(new Set(['end-to-end test']));
  await move(play.namespace, 'own-client', trustSecret);
});

test('then the first is trusted no more', async () => {
  await follows(play, 'Secrets alone', secrets);
  await move(play.namespace, 'own-client');
});

test('and back; a step too early is refused, and it goes on after the right one', async () => {
  await follows(play, 'both trusted', secretsTrustingManaged);
  await move(play.namespace, 'own-client', trustSecret);
  await play.unnoticed('to the reconciler', 3, async () => {
    const { namespace, cluster } = play;
    // No member restarts for the right step, so none is on its way when the wrong one comes.
    await cluster.apply({ tls: managedTrustingSecrets, paused: true });
    await cluster.apply({ tls: managed, paused: false });
    // Another reconciler has never read the authority of the members.
    await namespace.kubectl(['delete', 'pod', '-l', 'app.kubernetes.io/name=etcd-reconciler']);
    await isRefused('TlsRefused', /has its certificate from Secret own-peer, .*alsoTrust/);
    await cluster.apply({ tls: managedTrustingSecrets });
    await restarted(play);
  });
  await move(play.namespace, 'orders-client-tls', trustSecret);
  await follows(play, 'the reconciler alone', managed);
  expect(await issuers(play)).toEqual(issuedByReconciler);
  await move(play.namespace, 'orders-client-tls');
  await play.writesOn();
});

test('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
