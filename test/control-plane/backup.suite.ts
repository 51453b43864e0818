import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { BackupStore, Encryption, Retention, SftpCredentials } from '../../src';
import { runNow } from '../e2e/support/jobs';
import { kubectl } from '../e2e/support/kubectl';
import { Namespace } from '../e2e/support/namespace';
import { controlPlaneNodes, drive } from '../e2e/support/node-driver';
import { slowTest } from '../e2e/support/settings';
import type { Manifest } from '../synth';
import { onPlanes } from './settings';
import { StoreServer } from './store-server';
import { controlPlaneBackup } from './synthesis';
import { timed } from './timed';
import { findTools, run, type Tools } from './tools';

const cluster = 'prod';
const namespaceName = 'etcd-control-plane-backup';
/** Of the cluster within each store. */
const clusterFolder = `${namespaceName}/${cluster}`;
const cronJob = `${cluster}-hourly`;
const staging = 'staging/etcd-snapshot-20260101-000000-5ca1ab';

let namespace: Namespace;
let root: string;
let tools: Tools;
let sshd: StoreServer;
let legacy: StoreServer;
let s3: StoreServer;
let planes: string[];
let yaml: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'control-plane-backup-'));
  tools = await findTools();
  planes = await controlPlaneNodes();
  [sshd, legacy, s3] = await Promise.all([
    StoreServer.start('sshd'),
    StoreServer.start('legacy-sshd'),
    StoreServer.start('s3'),
  ]);
  namespace = Namespace.named(namespaceName);
  await run(tools.ageKeygen, '-o', join(root, 'identity'));
  yaml = synthesize(await run(tools.ageKeygen, '-y', join(root, 'identity')));
});
afterAll(async () => {
  await namespace?.delete();
  await Promise.all([sshd, legacy, s3].map((server) => server?.stop()));
  if (root) await rm(root, { recursive: true });
});

/** One backup into four places. */
function synthesize(recipient: string): string {
  const { app, backup } = controlPlaneBackup(namespace.name, {
    cluster,
    store: sshd.store('by-key', 'sftp-key'),
    retention: Retention.last(2),
    files: { encryption: Encryption.age({ recipients: [recipient] }) },
  });
  const [, hostKey] = /^\S+ (.*)$/m.exec(sshd.credentials.knownHosts!)!;
  const byPassword = BackupStore.sftp({
    ...{ host: sshd.host, port: sshd.port, path: sshd.folder('by-password') },
    ...{ username: sshd.credentials.username!.trim(), hostKey },
    credentials: SftpCredentials.fromSecret('sftp-password'),
  });
  backup.addStore(byPassword, { retention: Retention.last(2) });
  backup.addStore(legacy.store('old', 'sftp-legacy'), { retention: Retention.last(2) });
  backup.addStore(s3.store('ceph', 's3'), { retention: Retention.last(2) });
  return app.synthYaml();
}

const places = () => [
  { server: sshd, folder: 'by-key' },
  { server: sshd, folder: 'by-password' },
  { server: legacy, folder: 'old' },
  { server: s3, folder: 'ceph' },
];

interface Run {
  readonly id: string;
  readonly node: string;
}

/** What came of it: verified in each store. */
async function backup(job: string): Promise<Run> {
  const { succeeded, pods } = await timed(`a backup to four stores (${job})`, () => runNow(namespace, cronJob, job));
  expect([succeeded, pods]).toEqual([true, [expect.objectContaining({ exitCode: 0 })]]);
  const [{ name, terminationMessage }] = pods as [(typeof pods)[0]];
  const result = JSON.parse(terminationMessage);
  expect(result).toMatchObject({ ok: true, stores: Array(4).fill({ verified: 'read' }) });
  const { spec } = await namespace.get('pod', name);
  return { id: result.snapshot.id, node: spec.nodeName };
}

const manifestOf = async ({ id }: Run, { server, folder } = places()[0]!): Promise<Manifest> =>
  JSON.parse(await readFile(join(server.folder(folder), clusterFolder, `${id}.json`), 'utf8'));

test('cdk8s synth | kubectl apply: no warning, and once more changes nothing', async () => {
  const { stderr } = await kubectl(['apply', '--server-side', '-f', '-'], yaml);
  expect(stderr).toBe('');
  const { stdout } = await kubectl(['diff', '--server-side', '-f', '-'], yaml);
  expect(stdout).toBe('');
  await namespace.apply([
    sshd.secret('sftp-key', 'username', 'privateKey', 'knownHosts'),
    sshd.secret('sftp-password', 'password'),
    legacy.secret('sftp-legacy', 'username', 'privateKey', 'knownHosts'),
    s3.secret('s3'),
  ]);
});

test('the image is kept on every control-plane node, and on no other', async () => {
  await namespace.ready('daemonset', `${cronJob}-image`);
  const { items } = await namespace.get('pods', '--selector=app.kubernetes.io/name=etcd-agent-image');
  expect(items.map(({ spec }: Manifest) => spec.nodeName).sort()).toEqual(planes);
});

describe('a run by hand', () => {
  let first: Run;

  test('is verified on sshd by key and by password, on an old sshd, and on S3 over plain HTTP', async () => {
    await putOthersFiles();
    first = await backup('first');
    expect(planes).toContain(first.node);
  });

  slowTest('says which node it was, and what etcd runs with', async () => {
    const { source, members, host } = await manifestOf(first);
    const { spec } = JSON.parse(
      (await kubectl(['get', 'pod', '-n', 'kube-system', `etcd-${first.node}`, '-o', 'json'])).stdout,
    );
    const [{ image, command }] = spec.containers;
    expect(host).toEqual({ nodeName: first.node, etcd: { from: 'static-pod', image, command } });
    expect(members.map(({ name }: Manifest) => name).sort()).toEqual(planes);
    // The leader has enough to do.
    expect(source.role).toBe(planes.length > 1 ? 'follower' : 'leader');
  });

  slowTest('is whole to etcd’s own tool, wherever it was stored', async () => {
    for (const { server, folder } of places()) {
      const content = zstdDecompressSync(
        await readFile(join(server.folder(folder), clusterFolder, `${first.id}.db.zst`)),
      );
      const file = join(root, folder);
      await writeFile(file, content);
      const status = JSON.parse(await run(tools.etcdutl, 'snapshot', 'status', file, '-w', 'json'));
      expect(status.totalKey).toBeGreaterThan(100);
    }
  });

  slowTest('has kubeadm’s PKI beside it, for the owner of the identity', async () => {
    const file = join(sshd.folder('by-key'), clusterFolder, `${first.id}.extra.tar.age`);
    const tar = join(root, 'pki.tar');
    await run(tools.age, '-d', '-i', join(root, 'identity'), '-o', tar, file);
    const names = (await run('tar', '-tf', tar)).split('\n').map((name) => name.replace(/^\//, ''));
    expect(names).toEqual(
      expect.arrayContaining(['ca.key', 'sa.key', 'etcd/ca.key'].map((key) => `etc/kubernetes/pki/${key}`)),
    );
  });

  slowTest('leaves the newest two, and what is somebody else’s', async () => {
    const foreign = await putForeignSnapshot(first);
    const second = await backup('second');
    const third = await backup('third');
    for (const place of places()) {
      const kept = [second, third].flatMap(({ id }) =>
        ['db.zst', 'extra.tar.age', 'json'].map((end) => `${id}.${end}`),
      );
      const files = await place.server.files(place.folder);
      const ours = [...kept, ...foreign, 'etcd-snapshot-20260101-000000.db', 'notes.txt'];
      expect(files).toEqual([...ours.map((file) => `${clusterFolder}/${file}`), ...others].sort());
    }
  });
});

const others = [`${staging}.db.zst`, `${staging}.json`];

/** Of another cluster; and beside ours, by a script and by somebody. */
async function putOthersFiles(): Promise<void> {
  for (const { server, folder } of places()) {
    const files = [...others, `${clusterFolder}/etcd-snapshot-20260101-000000.db`, `${clusterFolder}/notes.txt`];
    for (const file of files) {
      await mkdir(join(server.folder(folder), file, '..'), { recursive: true });
      await writeFile(join(server.folder(folder), file), 'not ours');
    }
  }
}

/** Another Kubernetes has the same name for itself: same folder, another cluster id. */
async function putForeignSnapshot(of: Run): Promise<string[]> {
  const id = 'etcd-snapshot-20260101-000000-0ddba1';
  for (const place of places()) {
    const manifest = await manifestOf(of, place);
    const folder = join(place.server.folder(place.folder), clusterFolder);
    const { extra: _, ...rest } = manifest;
    const foreign = {
      ...{ ...rest, id, createdAt: '2026-01-01T00:00:00.000Z' },
      source: { ...manifest.source, clusterId: '1234567890abcdef' },
      object: { ...manifest.object, key: `${clusterFolder}/${id}.db.zst` },
    };
    await copyFile(join(folder, `${of.id}.db.zst`), join(folder, `${id}.db.zst`));
    await writeFile(join(folder, `${id}.json`), JSON.stringify(foreign));
  }
  return [`${id}.db.zst`, `${id}.json`];
}

onPlanes(3)('with three control planes', () => {
  slowTest('the node that ran last time is powered off: the next run is on another', async () => {
    // All kubelets of a kubeadm without a load balancer ask the first node's API server; it stays.
    const [entry] = planes as [string];
    await kubectl(['cordon', entry]);
    const last = await backup('before').finally(() => kubectl(['uncordon', entry]));
    expect(last.node).not.toBe(entry);
    try {
      await drive('off', last.node);
      // A run that begins at once may still be sent there; the next one takes its place.
      await namespace.until(`${last.node} to be missed`, 120, () => missed(last.node).catch(() => undefined));
      const next = await backup('after');
      expect(planes).toContain(next.node);
      expect(next.node).not.toBe(last.node);
      const { members } = await manifestOf(next);
      expect(members).toHaveLength(3);
    } finally {
      await drive('on', last.node);
    }
    await kubectl(['wait', '--for=condition=Ready', '--timeout=180s', `node/${last.node}`]);
    await kubectl(['wait', '--for=condition=Ready', '--timeout=180s', `pod/etcd-${last.node}`, '-n', 'kube-system']);
  });
});

/** No new pod is sent there any more. */
async function missed(node: string): Promise<true | undefined> {
  const { stdout } = await kubectl(['get', 'node', node, '-o', 'json']);
  const { taints = [] } = JSON.parse(stdout).spec;
  const keys = taints.map(({ key, effect }: Manifest) => `${key}:${effect}`);
  return keys.includes('node.kubernetes.io/unreachable:NoSchedule') ? true : undefined;
}
