import { ApiClient } from '../../kube/api-client.ts';
import { Paths } from '../../kube/paths.ts';
import type { Naming } from '../../protocol/kept-snapshots.ts';
import type { RecordDoc } from '../../protocol/record.ts';
import { FakeApi } from './fake-api.fixture.ts';
import { RecordConfigMap } from './record-config-map.ts';

const doc: RecordDoc = {
  v: 1,
  rev: 1,
  clusterUid: 'c',
  epoch: 0,
  minEpoch: 0,
  token: 't',
  phase: 'Seeding',
  seeded: false,
  permits: {},
  members: {},
  tombstones: [],
  versions: { current: '3.6', allowedMinors: ['3.6'] },
  restores: [],
};
const paths = new Paths('shop');
const path = paths.of('configmaps', 'orders-record');
const owner = { apiVersion: 'v1', kind: 'EtcdCluster', name: 'orders', uid: '1' };

let api: FakeApi;
let client: ApiClient;
let records: RecordConfigMap;
let restores: Naming[] | undefined;
beforeEach(async () => {
  api = await FakeApi.listen();
  client = new ApiClient(api.access, 60_000);
  restores = [];
  records = new RecordConfigMap({ client, paths, cluster: 'orders', owner: () => owner, restores: () => restores });
});
afterEach(async () => {
  client.close();
  await api[Symbol.asyncDispose]();
});

test('is created once, and read back', async () => {
  expect(await records.read()).toBeUndefined();
  await records.write(doc);
  expect(await records.read()).toEqual({ doc, rv: expect.any(String) });
  expect(api.object(path)?.metadata.ownerReferences).toEqual([owner]);
  await expect(records.write(doc)).rejects.toThrow(/already exists/);
});

test('is changed only if it is as it was read, and keeps the fields of others', async () => {
  await records.write(doc);
  api.put(path, {
    ...api.object(path),
    metadata: { ...api.object(path)?.metadata, annotations: { 'velero.io/x': 'y' } },
  });
  const { rv } = (await records.read())!;
  await records.write({ ...doc, rev: 2 }, rv);
  expect(api.object(path)?.metadata.annotations).toEqual({ 'velero.io/x': 'y' });
  await expect(records.write({ ...doc, rev: 3 }, rv)).rejects.toThrow(/modified/);
  expect((await records.read())?.doc.rev).toBe(2);
});

describe('the list of what retention keeps, for the pods of backups', () => {
  const monday = { id: 'monday', uid: 'u', specHash: 'h', at: '', snapshots: ['source', 'before'] };
  const tuesday = { id: 'tuesday', uid: 'v', specHash: 'i', at: '' };
  const asked: Naming = { name: 'monday', uid: 'u', phase: 'Completed', snapshots: [] };
  const isOld = async () => (await records.read())?.isListOld;
  const list = () => api.object<{ data: Record<string, string> }>(path)!.data['kept-snapshots'];

  test('is beside the record', async () => {
    restores = [asked];
    await records.write({ ...doc, restores: [monday, tuesday] });
    expect(list()).toBe('source\nbefore\n');
    expect(await isOld()).toBeUndefined();
  });

  test('follows the EtcdRestores, also one that was gone for a while', async () => {
    restores = [asked];
    await records.write({ ...doc, restores: [monday] });
    const next = async () => {
      const { doc: found, rv, isListOld } = (await records.read())!;
      expect(isListOld).toBe(true);
      await records.write(found, rv);
      expect(await isOld()).toBeUndefined();
    };
    restores = [];
    await next();
    expect(list()).toBe('');
    restores = [{ ...asked, uid: 'created again' }];
    await next();
    expect(list()).toBe('source\nbefore\n');
    restores = undefined;
    expect(await isOld()).toBeUndefined();
  });

  test('is made where an older release made none', async () => {
    api.put(path, { data: { 'record.json': JSON.stringify({ ...doc, restores: [tuesday] }) } });
    restores = [{ name: 'tuesday', uid: 'v', phase: 'Completed', snapshots: ['old'] }];
    const { doc: found, rv, isListOld } = (await records.read())!;
    expect(isListOld).toBe(true);
    await records.write(found, rv);
    expect(list()).toBe('old\n');
  });

  test('has what the EtcdRestores themselves name, also where the record has been rebuilt', async () => {
    restores = [
      { name: 'monday', uid: 'u', phase: 'Completed', snapshots: ['source', 'before'] },
      { name: 'never', uid: 'w', phase: 'Failed', snapshots: ['other'] },
    ];
    await records.write(doc);
    expect(list()).toBe('source\nbefore\n');
    const { rv } = (await records.read())!;
    restores = [{ name: 'tuesday', uid: 'created again', snapshots: ['old'] }];
    await records.write({ ...doc, restores: [tuesday] }, rv);
    expect(list()).toBe('old\n');
  });

  test('has only ids', async () => {
    restores = [{ name: 'x', uid: 'x', snapshots: ['a b', 'a\nb', '', 'good'] }];
    await records.write(doc);
    expect(list()).toBe('good\n');
  });
});

test('an unreadable record does not count as missing', async () => {
  api.put(path, { data: { 'record.json': JSON.stringify({ ...doc, v: 2 }) } });
  await expect(records.read()).rejects.toThrow(/ConfigMap orders-record: .*newer agent/);
  api.put(path, { data: {} });
  await expect(records.read()).rejects.toThrow(/ConfigMap orders-record/);
});

test('is deleted only if it is as it was read', async () => {
  await records.write(doc);
  await expect(records.remove('1')).rejects.toThrow(/Precondition/);
  await records.remove((await records.read())!.rv);
  expect(await records.read()).toBeUndefined();
});
