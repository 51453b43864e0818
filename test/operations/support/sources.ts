// Where the certificates of a living cluster come from, and what its members and its client have of them.
import type { EtcdTls } from '../../../src';
import { secret } from '../../e2e/support/manifests';
import type { Namespace } from '../../e2e/support/namespace';
import type { Play } from '../../e2e/watch/play';
import type { Manifest } from '../../synth';

/** The client has a Secret of its own, as an application of another namespace would. */
const clientSecret = 'application-tls';
/** The authorities of both sources while the cluster has two. */
export const trustSecret = 'orders-tls-trust';

export const text = ({ data }: Manifest, key: string): string => Buffer.from(data[key], 'base64').toString();

/** Gives the client this certificate, and the authorities of a Secret of both sources. */
export async function provide(namespace: Namespace, name: string, trust?: string): Promise<string> {
  const given = await namespace.get('secret', name);
  const ca = trust === undefined ? text(given, 'ca.crt') : text(await namespace.get('secret', trust), 'client-ca.crt');
  const files = { 'ca.crt': ca, 'tls.crt': text(given, 'tls.crt'), 'tls.key': text(given, 'tls.key') };
  await namespace.apply([secret(clientSecret, files)]);
  return clientSecret;
}

/** The same, until the client's pod has the files. */
export async function move(namespace: Namespace, name: string, trust?: string): Promise<void> {
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
export async function restarted({ namespace, cluster }: Play): Promise<void> {
  await namespace.until('every member with the new certificates', 480, async () => {
    const { spec } = await namespace.get('statefulset', 'orders');
    const wanted = mounted(spec.template).join();
    const pods = await cluster.pods();
    return pods.length === 3 && pods.every((pod) => mounted(pod).join() === wanted) ? pods : undefined;
  });
}

/** The client fails no write for a second, and at most the leader's own restart elects another one. */
export async function follows(play: Play, what: string, tls: EtcdTls): Promise<void> {
  await play.unnoticed(what, 3, async () => {
    await play.cluster.apply({ tls });
    await restarted(play);
  });
}

/** A certificate that a member presents. */
export interface Presented {
  /** Common name of its issuer. */
  readonly issuer: string;
  readonly serial: string;
}

/** What each member presents on its client port and its peer port. */
export async function presented({ namespace, cluster }: Play): Promise<Presented[]> {
  const program = `const { connect } = require('tls');
    for (const port of [2379, 2380]) {
      const socket = connect({ host: 'localhost', port, rejectUnauthorized: false }, () => {
        const { issuer, serialNumber } = socket.getPeerCertificate();
        console.log(JSON.stringify({ issuer: issuer.CN, serial: serialNumber }));
        socket.destroy();
      });
      socket.on('error', () => {});
    }`;
  const exec = (ordinal: number) => ['exec', cluster.pod(ordinal), '-c', 'agent', '--', 'node', '-e', program];
  const found = await Promise.all([0, 1, 2].map((ordinal) => namespace.kubectl(exec(ordinal))));
  return found.flatMap(({ stdout }) => stdout.split('\n').filter(Boolean)).map((line) => JSON.parse(line));
}

/** The issuers of what the members present. */
export const issuers = async (play: Play): Promise<Set<string>> =>
  new Set((await presented(play)).map(({ issuer }) => issuer));
