import { EtcdTls } from '../../src';
import { peerNames, serverNames } from '../../src/tls/certificates';
import { Authority } from '../e2e/support/certificates';
import { secret } from '../e2e/support/manifests';
import type { Namespace } from '../e2e/support/namespace';
import { Play, tell } from '../e2e/watch/play';
import type { Manifest } from '../synth';

// The certificates of a living cluster come from another source, and then from the first one again, only by applying manifests.
// The client has a Secret of its own, as an application of another namespace would.

const own = { peer: 'own-peer', server: 'own-server', client: 'own-client', root: 'own-root', backup: 'own-backup' };
const clientSecret = 'application-tls';
const trustSecret = 'orders-tls-trust';

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

const text = ({ data }: Manifest, key: string): string => Buffer.from(data[key], 'base64').toString();

/** Gives the client this certificate, and the authorities of both sources while the cluster has them. */
async function provide(namespace: Namespace, name: string, trust?: string): Promise<string> {
  const given = await namespace.get('secret', name);
  const ca = trust === undefined ? text(given, 'ca.crt') : text(await namespace.get('secret', trust), 'client-ca.crt');
  const files = { 'ca.crt': ca, 'tls.crt': text(given, 'tls.crt'), 'tls.key': text(given, 'tls.key') };
  await namespace.apply([secret(clientSecret, files)]);
  return clientSecret;
}

/** The same, until the client's pod has the files. */
async function move(name: string, trust?: string): Promise<void> {
  const { namespace } = play;
  await provide(namespace, name, trust);
  const wanted = await namespace.get('secret', clientSecret);
  // kubelet updates the files of a Secret within about a minute.
  await namespace.kubectl(['annotate', 'pod', 'orders-client', `cdk8s-etcd.dev/touched=${Date.now()}`, '--overwrite']);
  await namespace.until('the files of the client', 180, async () => {
    const read = "const read = (name) => require('node:fs').readFileSync('/tls/' + name, 'utf8');";
    const print = "process.stdout.write(read('ca.crt') + read('tls.crt'))";
    const { stdout } = await namespace.kubectl(['exec', 'orders-client', '--', 'node', '-e', read + print]);
    return stdout === text(wanted, 'ca.crt') + text(wanted, 'tls.crt') ? stdout : undefined;
  });
}

/** The Secrets that a pod mounts for the connections between members. */
const mounted = ({ spec }: Manifest): string[] => {
  const { secret, projected } = spec.volumes.find(({ name }: Manifest) => name === 'peer-tls');
  return secret ? [secret.secretName] : projected.sources.map((source: Manifest) => source.secret.name);
};

/** Waits until every member has restarted with the Secrets of the StatefulSet. */
async function restarted(): Promise<void> {
  const { namespace, cluster } = play;
  await namespace.until('every member with the new certificates', 480, async () => {
    const { spec } = await namespace.get('statefulset', 'orders');
    const wanted = mounted(spec.template).join();
    const pods = await cluster.pods();
    return pods.length === 3 && pods.every((pod) => mounted(pod).join() === wanted) ? pods : undefined;
  });
}

/** The client fails no write for a second, and at most the leader's own restart elects another one. */
async function follows(what: string, tls: EtcdTls): Promise<void> {
  await play.unnoticed(what, 3, async () => {
    await play.cluster.apply({ tls });
    await restarted();
  });
}

/** Common name of the issuer of what each member presents, on the client port and the peer port. */
async function issuers(): Promise<string[]> {
  const program = `const { connect } = require('tls');
    for (const port of [2379, 2380]) {
      const socket = connect({ host: 'localhost', port, rejectUnauthorized: false }, () => {
        console.log(socket.getPeerCertificate().issuer.CN);
        socket.destroy();
      });
      socket.on('error', () => {});
    }`;
  const exec = (ordinal: number) => ['exec', play.cluster.pod(ordinal), '-c', 'agent', '--', 'node', '-e', program];
  const found = await Promise.all([0, 1, 2].map((ordinal) => play.namespace.kubectl(exec(ordinal))));
  return found.flatMap(({ stdout }) => stdout.trim().split('\n'));
}

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
  await follows('both trusted', managedTrustingSecrets);
  expect(new Set(await issuers())).toEqual(new Set(['orders clients CA', 'orders peers CA']));
  await move('orders-client-tls', trustSecret);
});

test('then the members have certificates of the other', async () => {
  await follows('to Secrets', secretsTrustingManaged);
  expect(new Set(await issuers())).toEqual(new Set(['end-to-end test']));
  await move('own-client', trustSecret);
});

test('then the first is trusted no more', async () => {
  await follows('Secrets alone', secrets);
  await move('own-client');
});

test('and back; a step too early is refused, and it goes on after the right one', async () => {
  await follows('both trusted', secretsTrustingManaged);
  await move('own-client', trustSecret);
  await play.unnoticed('to the reconciler', 3, async () => {
    const { namespace, cluster } = play;
    // No member restarts for the right step, so none is on its way when the wrong one comes.
    await cluster.apply({ tls: managedTrustingSecrets, paused: true });
    await cluster.apply({ tls: managed, paused: false });
    // Another reconciler has never read the authority of the members.
    await namespace.kubectl(['delete', 'pod', '-l', 'app.kubernetes.io/name=etcd-reconciler']);
    await isRefused('TlsRefused', /has its certificate from Secret own-peer, .*alsoTrust/);
    await cluster.apply({ tls: managedTrustingSecrets });
    await restarted();
  });
  await move('orders-client-tls', trustSecret);
  await follows('the reconciler alone', managed);
  expect(new Set(await issuers())).toEqual(new Set(['orders clients CA', 'orders peers CA']));
  await move('orders-client-tls');
  await play.writesOn();
});

test('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
