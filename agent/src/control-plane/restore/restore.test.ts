import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorLike } from '../../../test/support/error-like.ts';
import { ExitCode } from '../../lib/errors.ts';
import { Journal, type JournalContent } from './journal.ts';
import { continueRestore } from './restore.ts';
import { undo } from './undo.ts';
import type { RestoreContext } from './wait.ts';

const CP1 = 'http://10.0.0.1:2380';

let root: string;
let server: Server;
let url: string;
/** Cluster id and members that the etcd reports. */
let etcd: { clusterId: string; peerURLs: string[]; others?: object[] };
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'restore-'));
  server = createServer((_, response) => {
    response
      .setHeader('x-etcd-cluster-id', etcd.clusterId)
      .end(JSON.stringify([{ peerURLs: etcd.peerURLs }, ...(etcd.others ?? [])]));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.close();
  await rm(root, { recursive: true });
});

async function wait(more: Partial<JournalContent>): Promise<string> {
  const content = {
    ...{ schema: 'cdk8s-etcd/control-plane-restore/v1', state: 'replaced', startedAt: '2026-11-22T01:00:00Z' },
    ...{ id: 'snap', clusterId: 'new', initialCluster: `cp1=${CP1}`, others: [url], oldIds: ['old'] },
    ...{ node: { member: { peerTls: {} } }, ...more },
  } as unknown as JournalContent;
  const context = {
    ...{ limit: 0, signal: new AbortController().signal },
    ...{ log: { warn: () => {} }, progress: { phase: () => {} } },
  } as unknown as RestoreContext;
  const journal = await Journal.begin(root, content);
  await continueRestore(journal, 'starting', context).catch((error) => {
    throw new Error(error.message);
  });
  return journal.content.state;
}

describe('while others answer', () => {
  const leftOut = () => [{ name: 'cp2', peerUrls: [url], isAlive: false }];

  test('an etcd of another cluster at the address of a left-out member does not block the restore', async () => {
    etcd = { clusterId: 'strange', peerURLs: [url] };
    expect(await wait({ leftOut: leftOut() })).toBe('starting');
  });

  test.each([
    ['of the old cluster', { clusterId: 'old', peerURLs: [] }],
    ['that knows a restored member', { clusterId: 'unknown', peerURLs: [CP1] }],
  ])('a left-out member %s stops it', async (_what, answer) => {
    etcd = answer;
    await expect(wait({ leftOut: leftOut() })).rejects.toThrow(/^cp2 .* serves the old one again/);
  });

  test('any other cluster at the address of a restored member stops it too', async () => {
    etcd = { clusterId: 'strange', peerURLs: [url] };
    await expect(wait({ leftOut: [] })).rejects.toThrow(
      /still serves the old cluster, or the cluster of another restore/,
    );
  });

  test('another cluster at any address stops a restore that an earlier release began', async () => {
    etcd = { clusterId: 'strange', peerURLs: [url] };
    await expect(wait({ leftOut: leftOut(), oldIds: undefined })).rejects.toThrow(/^cp2 /);
  });
});

test('a restore that has replaced nothing is undone without stopping etcd', async () => {
  const [manifestsDir, dataDir] = ['manifests', 'data'].map((name) => join(root, name)) as [string, string];
  await mkdir(manifestsDir);
  await writeFile(join(manifestsDir, 'etcd.yaml'), '');
  const journal = await Journal.begin(root, {
    ...{ schema: 'cdk8s-etcd/control-plane-restore/v1', state: 'prepared', startedAt: '2026-11-22T01:00:00Z' },
    ...{ id: 'snap', token: 't', manifestsDir, replacedDir: join(dataDir, 'member.replaced-1') },
    node: { kind: 'static-pod', member: { dataDir, clientUrls: [], listenClientUrls: [url], listenPeerUrls: [] } },
  } as unknown as JournalContent);
  await writeFile(join(journal.manifests, 'kube-apiserver.yaml'), '');
  const phases: string[] = [];
  const context = { limit: 0, signal: new AbortController().signal, log: { warn: () => {} } };
  await undo(journal, {
    ...context,
    progress: { phase: (name: string) => phases.push(name) },
  } as unknown as RestoreContext);
  expect(journal.content.state).toBe('undone');
  expect([await readdir(manifestsDir), phases]).toEqual([['etcd.yaml', 'kube-apiserver.yaml'], []]);
});

test('a restore that has moved nothing is undone, although nothing can be moved', async () => {
  const [manifestsDir, dataDir] = ['manifests', 'data'].map((name) => join(root, name)) as [string, string];
  await mkdir(manifestsDir);
  await writeFile(join(manifestsDir, 'etcd.yaml'), '');
  const journal = await Journal.begin(root, {
    ...{ schema: 'cdk8s-etcd/control-plane-restore/v1', state: 'prepared', startedAt: '2026-11-22T01:00:00Z' },
    ...{ id: 'snap', token: 't', manifestsDir, replacedDir: join(dataDir, 'member.replaced-1') },
    node: { kind: 'static-pod', member: { dataDir } },
  } as unknown as JournalContent);
  await rm(journal.manifests, { recursive: true });
  await undo(journal, { progress: { phase: () => {} } } as unknown as RestoreContext);
  expect([journal.content.state, await readdir(manifestsDir)]).toEqual(['undone', ['etcd.yaml']]);
});

test('a restore is not undone if its log does not say whether it has served; what ran runs again', async () => {
  const dataDir = join(root, 'data');
  const member = join(dataDir, 'member');
  await mkdir(member, { recursive: true });
  await writeFile(join(member, 'etcd-agent-restore.json'), '{"id":"snap","token":"t"}');
  await mkdir(join(member, 'wal', '0.wal'), { recursive: true });
  const manifestsDir = join(root, 'manifests');
  await mkdir(manifestsDir);
  await writeFile(join(manifestsDir, 'etcd.yaml'), '');
  const journal = await Journal.begin(root, {
    ...{ schema: 'cdk8s-etcd/control-plane-restore/v1', state: 'starting', startedAt: '2026-11-22T01:00:00Z' },
    ...{ id: 'snap', token: 't', commit: 5, manifestsDir },
    ...{ replacedDir: join(dataDir, 'member.replaced-1'), clusterId: 'new' },
    node: {
      kind: 'process',
      dataDir,
      member: { dataDir, clientUrls: [], metricsUrls: [], listenClientUrls: [], listenPeerUrls: [] },
    },
  } as unknown as JournalContent);
  await mkdir(journal.manifests, { recursive: true });
  await writeFile(join(journal.manifests, 'kube-apiserver.yaml'), '');
  const context = { limit: 0, signal: new AbortController().signal, log: { warn: () => {} } };
  await expect(
    undo(journal, { ...context, progress: { phase: () => {} } } as unknown as RestoreContext),
  ).rejects.toThrow(
    errorLike(/wal cannot be read \(EISDIR.*not known whether the restored member has served/, {
      finding: { kind: 'undoUnsure', memberDir: join(dataDir, 'member') },
    }),
  );
  expect(journal.content.state).toBe('starting');
  expect(await readdir(dataDir)).toEqual(['member']);
  expect([await readdir(manifestsDir), await readdir(journal.manifests)]).toEqual([
    ['etcd.yaml'],
    ['kube-apiserver.yaml'],
  ]);
});

describe('an etcd that was started on the restored data', () => {
  const started = async (initialCluster: string, { state = 'starting', limit = 0 } = {}) => {
    const member = { dataDir: root, clientUrls: [], metricsUrls: [url], listenClientUrls: [], listenPeerUrls: [url] };
    const manifestsDir = join(root, 'manifests');
    await mkdir(manifestsDir, { recursive: true });
    const journal = await Journal.begin(root, {
      ...{ schema: 'cdk8s-etcd/control-plane-restore/v1', state, startedAt: '2026-11-22T01:00:00Z' },
      ...{ id: 'snap', clusterId: 'new', initialCluster, others: [], manifestsDir },
      node: { kind: 'process', dataDir: root, member: { ...member, peerTls: {}, clientTls: {} } },
    } as unknown as JournalContent);
    await continueRestore(journal, state === 'starting' ? 'served' : 'done', {
      ...{ limit, signal: new AbortController().signal },
      ...{ log: { warn: () => {} }, progress: { phase: () => {} } },
    } as unknown as RestoreContext);
    return journal.content.state;
  };

  test('serves if it lists a member that was restored with it', async () => {
    etcd = { clusterId: 'new', peerURLs: [`${url}/`] };
    expect(await started(`cp1=${url}`)).toBe('served');
  });

  test.each(['starting', 'served'])('is refused at once if it lists itself alone: %s', async (state) => {
    etcd = { clusterId: 'new', peerURLs: [url] };
    const error = await started(`cp1=${url},cp2=http://10.0.0.2:2380`, { state, limit: 60_000 }).catch(
      (found) => found,
    );
    expect(error).toMatchObject({
      exitCode: ExitCode.refused,
      message: expect.stringMatching(/does not list cp2 \(10\.0\.0\.2\), restored with it$/),
      finding: { kind: 'membersRemoved' },
    });
    const { manifests, manifestsDir, folder } = error.finding;
    expect([manifests, manifestsDir]).toEqual([join(folder, 'manifests'), join(root, 'manifests')]);
    // Until then, its journal has not ended, and every other restore is refused.
    expect(await Journal.newest(root)).toMatchObject({ folder, content: { state } });
    await rename(folder, join(root, 'elsewhere'));
    expect(await Journal.newest(root)).toBeUndefined();
  });

  test('serves while it may list others than were restored: a dead member is removed or replaced with etcdctl', async () => {
    etcd = { clusterId: 'new', peerURLs: [url], others: [{ name: 'late', peerURLs: [CP1] }] };
    expect(await started(`cp1=${url},cp2=http://10.0.0.2:2380,cp3=http://10.0.0.3:2380`)).toBe('served');
  });
});
