import { ApiClient } from '../../../kube/api-client.ts';
import { Paths } from '../../../kube/paths.ts';
import type { RecordDoc } from '../../../protocol/record.ts';
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
beforeEach(async () => {
  api = await FakeApi.listen();
  client = new ApiClient(api.access, 60_000);
  records = new RecordConfigMap({ client, paths, cluster: 'orders', owner: () => owner });
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

test('has what retention keeps beside it, for the pods of backups', async () => {
  const restores = [
    { id: 'monday', uid: 'u', specHash: 'h', at: '', snapshots: ['source', 'before'] },
    { id: 'tuesday', uid: 'v', specHash: 'i', at: '' },
  ];
  await records.write({ ...doc, restores });
  expect(api.object(path)).toMatchObject({ data: { 'kept-snapshots': 'source\nbefore\n' } });
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
