import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { enableAuth } from '../../../test/harness/etcd-auth.ts';
import { etcdutl } from '../../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { clusterIdOf } from '../../etcd/offline/cluster-id.ts';
import type { Switches } from '../../etcd/offline/database-check.ts';
import { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import type { EtcdNode } from '../node/node.ts';
import type { RestoreNote } from '../state/noted-restores.ts';
import type { OwnRestore, SeenRevision } from '../state/served-revisions.ts';
import { bumpAndToken, fetchChecked, type PrepareRequest, readPrepared, refuseSameCluster } from './prepare.ts';

test('a snapshot with authentication enabled is reported', async () => {
  const root = await mkdtemp(join(tmpdir(), 'prepare-'));
  await using etcd = await EtcdCluster.start();
  await enableAuth(etcd);
  await etcd.etcdctl('snapshot', 'save', join(root, 'saved.db'));
  const snapshot = await readFile(join(root, 'saved.db'));
  const manifest = manifestOf(snapshot, snapshot);
  await mkdir(dirname(join(root, manifest.object.key)), { recursive: true });
  await writeFile(join(root, manifest.object.key), snapshot);
  const { name, peerUrl: peerUrls } = etcd.member(0);
  const said: Switches[] = [];
  const request = {
    ...{ node: { member: { name, peerUrls } } as EtcdNode, store: new FilesystemStore({ path: root }), manifest },
    ...{ etcdutl: new Etcdutl(etcdutl()), serverVersion: etcd.binaries.version, read: {}, onPhase: () => {} },
    onSwitches: (switches: Switches) => said.push(switches),
  } as unknown as PrepareRequest;
  const checked = await fetchChecked(request, join(root, 'snapshot.db'));
  expect(said).toEqual([{ authEnabled: true, corruptAlarm: false, noSpaceAlarm: false }]);
  expect(checked).toMatchObject({ authEnabled: true, members: [{ name }] });
  await rm(root, { recursive: true });
});

describe('a token that has already made a cluster', () => {
  const urls = ['a', 'b', 'c'].map((name) => ({ name, peerUrls: [`http://${name}:2380`] }));
  const manifest = manifestOf(Buffer.from('x'));
  const recent = { marksServing: true };
  interface Known {
    readonly notes?: readonly Partial<RestoreNote>[];
    readonly inStore?: readonly SeenRevision[];
    readonly here?: readonly SeenRevision[];
    readonly own?: Partial<OwnRestore>;
  }
  const bumpWith = (known: Known, given?: number, members = urls) => {
    const clusterId = clusterIdOf(members.map(({ name, peerUrls }) => `${name}=${peerUrls[0]}`).join(), 'mine')!;
    const note = { id: manifest.id, clusterId, revision: 1e9 + 7, bump: 1e9, token: 'mine' };
    const [inStore, here] = [known.inStore, known.here].map((all = []) => all.map((seen) => ({ ...seen, clusterId })));
    const served = {
      ...{ inStore: inStore!, here: here! },
      notes: (known.notes ?? []).map((more) => ({ ...note, ...more })),
      own: known.own ? [{ ...note, hasServed: false, ...known.own }] : [],
    };
    const asked = { token: 'mine', ...(given !== undefined && { bump: given }) };
    return bumpAndToken({ manifest, served, asked }, { revision: 7, members });
  };
  const refused = (message: RegExp) =>
    expect.objectContaining({
      ...{ exitCode: ExitCode.refused, message: expect.stringMatching(message), at: 'initialClusterToken' },
    });

  test('is refused for other data under the same cluster id', () => {
    const other =
      /^this token and these members have already made the cluster [0-9a-f]+ of \S+ .*; pass the same new token on all nodes/;
    expect(() => bumpWith({ notes: [{}] })).toThrow(refused(other));
    expect(() => bumpWith({ notes: [{}] }, 2e9)).toThrow(refused(/ with the bump revision 1000000000; pass/));
    expect(() => bumpWith({ notes: [{ id: 'another' }] }, 2e9)).toThrow(refused(/of another with/));
    expect(() => bumpWith({ own: { hasServed: true } }, undefined, urls.slice(0, 1))).toThrow(refused(other));
    const seen = { revision: 1e9 + 9, where: 'a backup' };
    expect(() => bumpWith({ inStore: [seen] })).toThrow(refused(/already made the cluster [0-9a-f]+; pass/));
  });

  test('is accepted for the same data, and where nothing has served', () => {
    expect(bumpWith({}).isNew).toBe(true);
    expect(bumpWith({ notes: [recent] })).toMatchObject({ bump: 1e9, isNew: false });
    const here = [{ revision: 2e9, where: 'etcd', hasQuorum: true }];
    expect(bumpWith({ notes: [{}], here }, 1e9).bump).toBe(1e9);
    expect(bumpWith({ notes: [{ clusterId: 'f00' }] }).isNew).toBe(true);
    expect(bumpWith({ notes: [{}], own: {} }, 2e9, urls.slice(0, 1)).bump).toBe(2e9);
  });
});

test('prepared data that cannot be read are not missing', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'prepared-'));
  expect(await readPrepared(dataDir)).toBeUndefined();
  await mkdir(join(dataDir, 'member.partial'));
  await writeFile(join(dataDir, 'member.partial', 'ready.json'), '{"id":');
  await expect(readPrepared(dataDir)).rejects.toMatchObject({
    exitCode: ExitCode.refused,
    message: expect.stringMatching(/ready\.json cannot be read .*; .*member\.partial/),
  });
  await rm(dataDir, { recursive: true });
});

test('the restore beside a damaged log still says of which cluster the data are', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'same-'));
  const same = () => refuseSameCluster({ member: { dataDir } } as EtcdNode, 'c1');
  await mkdir(join(dataDir, 'member/wal'), { recursive: true });
  await writeFile(join(dataDir, 'member/wal/0.wal'), Buffer.alloc(100));
  await same();
  await writeFile(join(dataDir, 'member', 'etcd-agent-restore.json'), '{"id":"a","token":"t","clusterId":"c1"}');
  await expect(same()).rejects.toThrow(/holds the cluster c1/);
  await rm(dataDir, { recursive: true });
});
