import { Duration } from 'cdk8s';
import { EtcdTls } from '../../src';
import { Play, tell } from '../e2e/watch/play';

// TLS is switched on and off on a living cluster, only by applying the manifests. The client knows both schemes, and gets its
// certificate when the cluster has one.

let play: Play;
beforeAll(async () => {
  play = await Play.begin('switch', { tls: 'later', known: 3 });
});
afterAll(() => play?.end());

/** Waits until the condition has this reason. */
async function transport(reason: string): Promise<void> {
  const { namespace, cluster } = play;
  await namespace.until(`TransportReady ${reason}`, 480, async () => {
    const found = await cluster.condition('TransportReady');
    return found?.reason === reason ? found : undefined;
  });
  tell(`switch: ${reason}: ${(await cluster.condition('TransportReady'))?.message}`);
}

const managed = (window: Duration) => EtcdTls.managed({ acceptPlaintextFor: window });

test('switched on: first both schemes for clients, for as long as the manifests say', () =>
  play.unnoticed('to both schemes', 3, async () => {
    await play.cluster.apply({ tls: managed(Duration.hours(1)) });
    await transport('PlaintextAccepted');
  }));

test('then https alone', async () => {
  await play.namespace.until('the client’s certificate', 180, async () => {
    const { data = {} } = await play.namespace.get('secret', 'orders-client-tls');
    return data['tls.crt'] ? data : undefined;
  });
  // kubelet updates the files of a Secret within about a minute.
  await play.namespace.kubectl(['annotate', 'pod', 'orders-client', 'cdk8s-etcd.dev/touched=now', '--overwrite']);
  await play.namespace.until('the certificate in the client’s pod', 180, async () => {
    const list = "process.stdout.write(require('node:fs').readdirSync('/tls').join())";
    const { stdout } = await play.namespace.kubectl(['exec', 'orders-client', '--', 'node', '-e', list]);
    return stdout.includes('tls.crt') ? stdout : undefined;
  });
  await play.unnoticed('to https', 3, async () => {
    await play.cluster.apply({ tls: managed(Duration.seconds(0)) });
    await transport('Tls');
  });
});

test('switched off: both schemes until the manifests drop the certificates', async () => {
  await play.unnoticed('back to both schemes', 3, async () => {
    await play.cluster.apply({ tls: EtcdTls.none({ previous: EtcdTls.managed() }) });
    await transport('PlaintextAccepted');
  });
  await play.unnoticed('to http', 3, async () => {
    await play.cluster.apply({ tls: EtcdTls.none() });
    await transport('Plaintext');
  });
});

test('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
