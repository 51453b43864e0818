import { randomBytes } from 'node:crypto';
import { Encryption, EtcdRestore, RestoreSource } from '../../src';
import { container, podSpec, secret } from '../e2e/support/manifests';
import type { Parts } from '../e2e/support/member-cluster';
import { Namespace } from '../e2e/support/namespace';
import { backUp } from '../e2e/support/orders-backups';
import { runPod } from '../e2e/support/pods';
import { S3 } from '../e2e/support/s3';
import { slowTest } from '../e2e/support/settings';
import { newYear } from '../e2e/support/synthesis';
import { Play, tell } from '../e2e/watch/play';
import { Recording } from '../e2e/watch/recording';
import { majorityLossTold, recovered } from '../operations/support/survivor-recovery';
import { ageKeys } from './age-keys';

// A reader of everything in a namespace except Secrets learns no key, password or token during encrypted backups, a
// restore with an age identity, and the salvage of a survivor.

let play: Play;
let recording: Recording;
let s3: S3;
let encryption: Encryption;
let snapshot: string;

const identitySecret = 'age-identity';
const nightly = ({ cluster }: Parts) =>
  void cluster.addBackupSchedule('nightly', { schedule: newYear, store: s3.store(), encryption });

beforeAll(async () => {
  const { identity, recipient } = await ageKeys();
  encryption = Encryption.age({ recipients: [recipient] });
  play = await Play.begin('secrets', {
    tls: true,
    prepare: async (namespace) => {
      recording = await Recording.begin(namespace);
      s3 = await S3.start(namespace);
      await namespace.apply([secret(identitySecret, { 'identity.txt': identity })]);
    },
    shape: nightly,
  });
});
afterAll(async () => {
  await recording?.end();
  await play?.end();
});

/** Returns the answer to a GET from the pod of a member: a status, or an error code. */
async function asked(url: string, certificate?: 'peer' | 'server'): Promise<string> {
  const program = `
    const [url, directory] = process.argv.slice(1);
    const pair = directory && Object.fromEntries(['cert:tls.crt', 'key:tls.key'].map((each) => each.split(':'))
      .map(([name, file]) => [name, require('fs').readFileSync(directory + '/' + file)]));
    const end = (answer) => process.exit(console.log(answer));
    require('https').get(url, { ...pair, rejectUnauthorized: false }, (answer) => end(answer.statusCode))
      .on('error', () => end('refused'));
    setTimeout(() => end('no answer'), 10000);
  `;
  const directory = certificate ? `/etc/etcd/tls/${certificate}` : '';
  const exec = ['exec', play.cluster.pod(0), '-c', 'agent', '--', 'node', '-e', program, '--', url, directory];
  return (await play.namespace.kubectl(exec)).stdout.trim();
}

test('members take the certificates of one authority for peers, of the other for clients, and nobody without one', async () => {
  const { podIP } = (await play.namespace.get('pod', play.cluster.pod(1))).status;
  // The authority of the clients also signs the servers' certificates.
  expect(await asked(`https://${podIP}:2380/version`, 'peer')).toBe('200');
  expect(await asked(`https://${podIP}:2380/version`, 'server')).toBe('refused');
  expect(await asked(`https://${podIP}:2380/version`)).toBe('refused');
  expect(await asked(`https://${podIP}:2379/version`, 'server')).toBe('200');
  expect(await asked(`https://${podIP}:2379/version`, 'peer')).toBe('refused');
  expect(await asked(`https://${podIP}:2379/version`)).toBe('refused');
});

test('an encrypted backup, by a pod that has no identity', async () => {
  await play.writesOn();
  snapshot = await backUp(play.namespace, 'orders', 'monday');
  const { items } = await play.namespace.get('pods', '--selector=job-name=monday');
  expect(JSON.stringify(items[0].spec)).not.toContain(identitySecret);
  expect(await s3.files()).toContainEqual(expect.stringContaining(`${snapshot}.db.zst.age`));
});

test('a restore with an identity', async () => {
  await play.converges('restored in place', 3, async () => {
    play.cluster.reshape((parts) => {
      nightly(parts);
      const { chart, cluster } = parts;
      const source = RestoreSource.snapshot(s3.store(), snapshot);
      new EtcdRestore(chart, 'encrypted', { cluster, name: 'encrypted', source, identitySecret });
    });
    await play.cluster.apply();
    await play.givesUp();
    const phase = await play.namespace.until('the end of the EtcdRestore', 300, async () => {
      const { status } = await play.namespace.get('etcdrestore', 'encrypted');
      return ['Completed', 'Failed'].includes(status?.phase) ? status.phase : undefined;
    });
    expect(phase).toBe('Completed');
  });
});

slowTest('a survivor that was restarted is salvaged: its snapshot is for members alone', async () => {
  await play.converges('recovered from a survivor that was restarted', 3, async () => {
    await play.cluster.loseVolumes(1, 2);
    await majorityLossTold(play);
    const { uid } = (await play.namespace.get('pod', play.cluster.pod(0))).metadata;
    await play.cluster.deletePods(0);
    await play.namespace.until('another pod', 60, async () => {
      const pod = await play.namespace.get('pod', play.cluster.pod(0)).catch(() => undefined);
      return pod && pod.metadata.uid !== uid ? pod : undefined;
    });
    await recovered(play, 'first', { identitySecret });
  });
  // The Job has fetched the snapshot.
  const { items } = await play.namespace.get('events', '--field-selector=reason=SuccessfulCreate');
  expect(items.map(({ message }: { message: string }) => message)).toContain('Created Job orders-salvage');
});

test('nothing is lost but what was given up, and each epoch was one cluster', () => play.ends(3));

test('no key, password or token is in an object other than a Secret, in a log or in a manifest', async () => {
  const store = await s3.documents();
  expect(store).toContain(snapshot);
  expect(await recording.leaks({ store })).toEqual([]);
  tell(`secrets: ${recording.size}, no leak`);
});

test('a visible secret is found, wherever it is', async () => {
  const namespace = await Namespace.create('leaky');
  const other = await Recording.begin(namespace);
  try {
    const password = randomBytes(12).toString('hex');
    await namespace.apply([
      secret('login', { password }),
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'plain' },
        data: { url: `https://me:${Buffer.from(password).toString('base64')}@example.com` },
      },
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'orders-record' },
        data: { 'record.json': JSON.stringify({ op: { args: { sourceToken: 'a-token-of-a-restore' } } }) },
      },
    ]);
    // A pod that prints the secret and ends early.
    const image = 'docker.io/library/busybox:1.35';
    const print = container('main', image, {
      command: ['sh', '-c', `echo starting; echo "$PASSWORD"`],
      env: [fromSecret],
    });
    await runPod(namespace, 'printer', podSpec({ containers: [print] }));
    await namespace.kubectl(['delete', 'pod', 'printer']);
    const [plain, record, log] = ['ConfigMap plain', 'ConfigMap orders-record', 'log of printer/main'];
    expect(await other.leaks({ store: `key: ${password}` })).toEqual([
      `${record}: a token of the record orders-record`,
      `${plain}: password of Secret login`,
      `${log}: password of Secret login`,
      'store: password of Secret login',
    ]);
  } finally {
    await other.end();
    await namespace.delete();
  }
});

const fromSecret = { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'login', key: 'password' } } };
