import { EtcdTls } from '../../src';
import type { Manifest } from '../synth';
import { kubectl } from './support/kubectl';
import { slowTest } from './support/settings';
import { Play, tell } from './watch/play';
import { Recording } from './watch/recording';

const leaves = ['peer', 'server', 'client', 'root', 'backup'].map((leaf) => `orders-${leaf}-tls`);
const secrets = ['orders-peer-ca', 'orders-client-ca', ...leaves];
const ordinals = [0, 1, 2];
/** Longer than the pause of the reconciler between two reads of the Secrets. */
const aLook = 400;

let play: Play;
let recording: Recording;
beforeAll(async () => {
  play = await Play.begin('managed-tls', { tls: true });
  recording = await Recording.begin(play.namespace);
});
afterAll(async () => {
  await recording?.end();
  await play?.end();
});

const dataOf = async (name: string): Promise<Manifest> => (await play.namespace.get('secret', name)).data;
const empty = (name: string) =>
  play.namespace.kubectl(['patch', 'secret', name, '--type=merge', '-p', '{"data":null}']);
const allData = () => Promise.all(secrets.map(dataOf));
const condition = async () => {
  const { status, reason, message } = (await play.cluster.condition('CertificatesReady')) ?? {};
  return { status, reason, message };
};

/** The serial numbers of the intermediate behind what a member presents on its client and its peer port. */
async function presented(ordinal: number): Promise<string[]> {
  const program = `const { connect } = require('tls');
    for (const port of [2379, 2380]) {
      const socket = connect({ host: 'localhost', port, rejectUnauthorized: false }, () => {
        console.log(port, socket.getPeerCertificate(true).issuerCertificate.serialNumber);
        socket.destroy();
      });
      socket.on('error', () => {});
    }`;
  const exec = ['exec', play.cluster.pod(ordinal), '-c', 'agent', '--', 'node', '-e', program];
  const { stdout } = await play.namespace.kubectl(exec);
  return stdout.trim().split('\n').sort();
}

/** Returns whether a member answers a client with these certificates. A refusal comes only after the handshake. */
async function isAccepted(ordinal: number, data: Manifest): Promise<boolean> {
  const pem = (key: string) => `Buffer.from('${data[key]}', 'base64')`;
  const program = `const { get } = require('https');
    const certificates = { ca: ${pem('ca.crt')}, cert: ${pem('tls.crt')}, key: ${pem('tls.key')} };
    get({ host: 'localhost', port: 2379, path: '/version', agent: false, ...certificates }, (answer) => {
      answer.resume();
      console.log(answer.statusCode);
    }).on('error', ({ message }) => console.log(message));`;
  const exec = ['exec', play.cluster.pod(ordinal), '-c', 'agent', '--', 'node', '-e', program];
  const { stdout } = await play.namespace.kubectl(exec);
  if (stdout.trim() === '200') return true;
  expect(stdout).toMatch(/bad certificate|reset|hang up/);
  return false;
}

const containers = async () =>
  (await play.cluster.pods()).flatMap(({ metadata, status }) =>
    status.containerStatuses.map(({ name, restartCount }: Manifest) => [metadata.uid, name, restartCount]),
  );

test('the cluster formed with certificates whose dates are in the status', async () => {
  expect(await condition()).toMatchObject({ status: 'True' });
  const { certificates } = (await play.cluster.resource()).status;
  const days = (time: string) => Math.round((Date.parse(time) - Date.now()) / 86_400_000);
  const found = certificates.map(({ secret, notAfter, renewAt }: Manifest) => [secret, days(notAfter), days(renewAt)]);
  expect(found).toEqual(secrets.map((name) => [name, ...(leaves.includes(name) ? [90, 60] : [365, 243])]));
});

test('the reconciler may neither list nor create Secrets, and a member may read none', async () => {
  const may = async (account: string, verb: string, name = '') => {
    const as = `--as=system:serviceaccount:${play.namespace.name}:${account}`;
    const asked = kubectl(['auth', 'can-i', verb, `secrets/${name}`, as, `--namespace=${play.namespace.name}`]);
    return asked.then(
      ({ stdout }) => stdout.trim() === 'yes',
      () => false,
    );
  };
  expect(await may('etcd-reconciler', 'update', 'orders-peer-ca')).toBe(true);
  for (const verb of ['list', 'watch', 'create', 'delete'])
    expect([verb, await may('etcd-reconciler', verb)]).toEqual([verb, false]);
  expect(await may('etcd-reconciler', 'get', 'others')).toBe(false);
  for (const name of secrets) expect(await may('orders', 'get', name)).toBe(false);
});

test('another apply changes none of the Secrets', async () => {
  const before = await allData();
  await play.cluster.apply();
  await play.cluster.apply({}, ['--server-side', '--force-conflicts']);
  expect(await allData()).toEqual(before);
});

test('new intermediates come into use without a restart', async () => {
  const [before, roots, old] = [await containers(), await Promise.all(leaves.map(dataOf)), await presented(0)];
  await play.unnoticed('new intermediates', 3, async () => {
    await play.cluster.apply({ tls: EtcdTls.managed({ intermediateRotation: 'first' }) });
    for (const ordinal of ordinals)
      await play.namespace.until(`member ${ordinal} presents another certificate`, 240, async () => {
        const now = await presented(ordinal);
        return now.length === 2 && now.every((line) => !old.includes(line)) ? now : undefined;
      });
  });
  expect(await containers()).toEqual(before);
  const after = await Promise.all(leaves.map(dataOf));
  expect(after.map((data) => data['ca.crt'])).toEqual(roots.map((data) => data['ca.crt']));
  expect(after.some((data, index) => data['tls.crt'] === roots[index]?.['tls.crt'])).toBe(false);
});

/** What DNS says of a member now: the addresses of its name, and the names of its address. */
async function named(ordinal: number, address: string): Promise<string[]> {
  const host = `orders-${ordinal}.orders-peers.${play.namespace.name}.svc.cluster.local`;
  const program = `const { resolve4, reverse } = require('dns').promises;
    const say = (found) => console.log(String(found));
    const unless = ({ code }) => say(code);
    resolve4('${host}').then(say, unless).then(() => reverse('${address}').then(say, unless));`;
  const exec = ['exec', play.cluster.pod(1), '-c', 'agent', '--', 'node', '-e', program];
  return (await play.namespace.kubectl(exec)).stdout.trim().split('\n');
}

test('a member that comes back with another address while its certificate is renewed joins the others', async () => {
  const addresses = async () => (await play.cluster.pods()).map(({ status }) => status.podIP).sort();
  const addressOf = async (ordinal: number) =>
    (await play.namespace.get('pod', play.cluster.pod(ordinal))).status.podIP;
  const [before, old] = [await addresses(), await presented(2)];
  await play.unnoticed('another address and a renewal', 3, async () => {
    await play.cluster.apply({ tls: EtcdTls.managed({ intermediateRotation: 'second' }) });
    await play.cluster.deletePods(2);
    await play.namespace.until('the member presents another certificate', 240, async () => {
      const now = await presented(2).catch(() => []);
      return now.length === 2 && now.every((line) => !old.includes(line)) ? now : undefined;
    });
  });
  const address = await addressOf(2);
  expect(before).not.toContain(address);
  const [forward, reverse] = await named(2, address);
  tell(`managed-tls: address ${address}: name ${forward}, reverse ${reverse}`);
  expect(forward).toBe(address);
});

slowTest('a certificate whose Secret is emptied is issued again, and the members keep theirs meanwhile', async () => {
  await play.unnoticed('a Secret emptied', 3, async () => {
    await empty('orders-server-tls');
    await play.namespace.until(
      'the Secret is filled',
      aLook,
      async () => (await dataOf('orders-server-tls')) || undefined,
    );
  });
  expect(await condition()).toMatchObject({ status: 'True' });
});

// What a reconciler that does not know the authority does is in replaced.suite.ts.
slowTest('an authority whose Secret is emptied is written back', async () => {
  const before = await dataOf('orders-peer-ca');
  await play.unnoticed('an authority emptied', 3, async () => {
    await empty('orders-peer-ca');
    await play.namespace.until('it is written back', 120, async () => (await dataOf('orders-peer-ca')) || undefined);
    await play.namespace.until('it is ready again', aLook, async () =>
      (await condition()).status === 'True' ? true : undefined,
    );
  });
  expect(await dataOf('orders-peer-ca')).toEqual(before);
});

slowTest('an authority is replaced as the guide says', async () => {
  const { 'ca.crt': before } = await dataOf('orders-peer-tls');
  await play.converges('an authority replaced', 3, async () => {
    await play.namespace.kubectl(['annotate', 'secret', 'orders-peer-ca', 'cdk8s-etcd.dev/new-authority=yes']);
    for (const name of ['orders-peer-ca', 'orders-peer-tls']) await empty(name);
    await play.namespace.until('the Secrets are filled', aLook, async () => {
      const now = await dataOf('orders-peer-tls');
      // It is not True before the members have restarted.
      return now && (await condition()).reason === 'RootNotLoaded' ? now : undefined;
    });
    const labels = 'app.kubernetes.io/instance=orders,app.kubernetes.io/component=member';
    await play.namespace.kubectl(['delete', 'pod', '-l', labels]);
    await play.namespace.until('all have loaded the new root', 300, async () =>
      (await condition()).status === 'True' ? true : undefined,
    );
  });
  expect((await dataOf('orders-peer-tls'))['ca.crt']).not.toBe(before);
});

// Last of them: from now on, a Secret that is issued anew has another list, for which the condition waits.
slowTest('stolen certificates are shut out without a restart', async () => {
  const [before, stolen] = [await containers(), await dataOf('orders-client-tls')];
  const everywhere = (data: Manifest) => Promise.all(ordinals.map((ordinal) => isAccepted(ordinal, data)));
  expect(await everywhere(stolen)).toEqual([true, true, true]);
  await play.unnoticed('certificates revoked', 3, async () => {
    await play.cluster.apply({ tls: EtcdTls.managed({ intermediateRevocation: 'stolen' }) });
    await play.namespace.until('the revocation is reported', aLook, async () =>
      (await condition()).reason === 'RevokingIntermediates' ? true : undefined,
    );
    await play.namespace.until('the revocation is complete', 900, async () =>
      (await condition()).status === 'True' ? true : undefined,
    );
    // The condition claims that every member has the list, so nobody waits any longer.
    expect(await everywhere(stolen)).toEqual([false, false, false]);
  });
  expect(await everywhere(await dataOf('orders-client-tls'))).toEqual([true, true, true]);
  expect(await containers()).toEqual(before);
});

test('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));

test('no key is in an object other than a Secret, or in a log', async () => {
  expect(await recording.leaks()).toEqual([]);
  tell(`managed-tls: ${recording.size}, no leak`);
});
