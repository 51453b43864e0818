import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { seal } from '../../../test/mutations/mutate.ts';
import { backupRequest, silent } from '../../../test/support/backup-request.ts';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { S3Stub } from '../../../test/support/s3-stub.ts';
import { secretDirectory } from '../../../test/support/secret-directory.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { Budget } from '../../lib/limits/budget.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { PatientStore } from '../../store/patient-store.ts';
import { openS3 } from '../../store/s3/s3-store.ts';
import { openSftp } from '../../store/sftp/sftp-store.ts';
import type { Store } from '../../store/store.ts';
import { readCatalog } from '../catalog/catalog.ts';
import { writeIndex } from '../catalog/catalog-index.ts';
import { Folder } from '../catalog/folder.ts';
import type { BackupOutcome } from './request.ts';
import { type BackupRequest, takeBackup } from './take.ts';

const MIB = 1024 * 1024;
const PATIENCE = 1_000;

let etcd: EtcdCluster;
let root: string;
let stub: S3Stub;
let credentialsDirectory: string;
const opened: Store[] = [];

beforeAll(async () => {
  etcd = await EtcdCluster.start({ size: 1 });
  await etcd.put(4, { valueSize: MIB });
});
afterAll(() => etcd?.stop());
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'bad-store-'));
  const keys = { AWS_ACCESS_KEY_ID: 'stub-access', AWS_SECRET_ACCESS_KEY: 'stub-secret' };
  credentialsDirectory = secretDirectory(join(root, 'secret'), keys).path;
  stub = await S3Stub.start();
});
afterEach(async () => {
  for (const store of opened.splice(0)) store.close();
  await stub[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
});

const healthy = () => new FilesystemStore({ path: join(root, 'healthy') });

function patient(name: string, open: () => Promise<Store>): Store {
  const store = new PatientStore(name, open, { idle: () => PATIENCE });
  opened.push(store);
  return store;
}

const bucket = () =>
  patient('s3://bad', () =>
    openS3({ bucket: stub.bucket, endpoint: stub.endpoint, credentialsDirectory }, { minPartSize: MIB }),
  );

const take = (stores: readonly Store[], overrides: Partial<BackupRequest> = {}, signal = silent.signal) => {
  const targets = stores.map((store) => ({ store, retention: { last: 1 } }));
  return takeBackup(backupRequest(etcd, root, [], { targets, force: true, ...overrides }), { ...silent, signal });
};

async function expectOne({ manifest, targets }: BackupOutcome, at: number, error: object): Promise<void> {
  expect(targets[at]).toMatchObject({ error });
  expect(targets[1 - at]).toMatchObject({ verified: 'read' });
  expect(targets[1 - at]!.error).toBeUndefined();
  expect((await readCatalog(new Folder(healthy(), 'orders'))).map(({ id, problem }) => [id, problem])).toEqual([
    [manifest.id, undefined],
  ]);
}

const hangs = { exitCode: ExitCode.storeUnreachable, message: expect.stringContaining('no sign of life') };

describe.each([0, 1])('one of two stores, at place %i', (at) => {
  const both = (bad: Store) => (at === 0 ? [bad, healthy()] : [healthy(), bad]);

  test.each([
    'ListObjectsV2',
    'CreateMultipartUpload',
    'UploadPart',
    'CompleteMultipartUpload',
    'GetObject',
    'PutObject',
  ])('hangs in %s: the other has the snapshot', async (hung) => {
    stub.intercept = (_, operation) => (operation === hung ? 'hang' : undefined);
    await expectOne(await take(both(bucket())), at, hangs);
  });

  test('hangs while the payload is read back', async () => {
    stub.intercept = (_, operation) =>
      operation === 'GetObject' ? { status: 200, body: Buffer.alloc(5 * MIB), stallAt: MIB } : undefined;
    await expectOne(await take(both(bucket())), at, hangs);
  });

  test('hangs when it is connected to', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const login = secretDirectory(join(root, 'sftp'), {
      username: 'u',
      password: 'p',
      knownHosts: '127.0.0.1 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0000000000000000000000000000000000000000000\n',
    });
    const store = patient('sftp://bad', () => openSftp({ host: '127.0.0.1', port, credentialsDirectory: login.path }));
    await expectOne(await take(both(store)), at, hangs);
    server.close();
  });

  test('cannot be opened', async () => {
    const open = () => openS3({ bucket: 'b', endpoint: stub.endpoint, credentialsDirectory: join(root, 'none') });
    const error = { exitCode: ExitCode.usage, message: expect.stringContaining('cannot be read (ENOENT)') };
    await expectOne(await take(both(patient('s3://bad', open))), at, error);
  });

  test('hangs, with user-defined names', async () => {
    stub.intercept = (_, operation) => (operation === 'UploadPart' ? 'hang' : undefined);
    await expectOne(await take(both(bucket()), { fileName: 'own-%Y' }), at, hangs);
  });
});

describe('one of two stores, with the patience that --timeout leaves for it', () => {
  const LIMIT = 10_000;
  const within = () => AbortSignal.timeout(LIMIT);
  const opening = () => openS3({ bucket: stub.bucket, endpoint: stub.endpoint, credentialsDirectory });

  test.each([{}, { request: 'uid-1' }, { fileName: 'own-%Y' }, { key: 'own.db' }])(
    'hangs in whatever it is asked, with %j: the other has the snapshot within the time of the run',
    async (overrides: Partial<BackupRequest>) => {
      stub.intercept = () => 'hang';
      const budget = new Budget({ given: LIMIT });
      const bad = new PatientStore('s3://bad', opening, { budget, idle: () => budget.share(2) });
      opened.push(bad);
      const { targets } = await take([bad, healthy()], overrides, within());
      expect(targets).toMatchObject([{ error: hangs }, { verified: 'read' }]);
    },
  );
});

describe('the index of many snapshots', () => {
  const INDEX = 'orders/.index.jsonl.gz';
  const fill = (from: number, to: number) => {
    for (let n = from; n < to; n++) {
      const id = `etcd-snapshot-20260101-000000-${String(n).padStart(6, '0')}`;
      const snapshot = seal(Buffer.from(id));
      const put = (name: string, body: Buffer) =>
        stub.objects.set(`orders/${name}`, { body, modified: new Date(), etag: 'e' });
      put(`${id}.db`, snapshot);
      put(`${id}.json`, Buffer.from(JSON.stringify(manifestOf(snapshot, snapshot, { id }))));
    }
  };
  const open = async () => {
    const store = await openS3({ bucket: stub.bucket, endpoint: stub.endpoint, credentialsDirectory });
    opened.push(store);
    return store;
  };
  const expectWarned = async (...messages: readonly RegExp[]) => {
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line).msg) });
    const store = await open();
    const request = backupRequest(etcd, root, [store], { targets: [{ store, retention: { last: 200 } }] });
    const { targets, manifest } = await takeBackup(request, { ...silent, log });
    expect(targets).toMatchObject([{ verified: 'read', deleted: [] }]);
    expect(targets[0]!.error).toBeUndefined();
    // The snapshots that are there already are of another etcd.
    expect(lines.filter((line) => !/ of another etcd /.test(line))).toEqual(
      messages.map((message) => expect.stringMatching(message)),
    );
    stub.intercept = () => undefined;
    expect((await readCatalog(new Folder(await open(), 'orders')))[0]).toMatchObject({
      id: manifest.id,
      problem: undefined,
    });
  };

  test('is refused: the backup is taken with a warning, and no part of the index is left', async () => {
    fill(0, 70);
    stub.intercept = ({ key }, operation) =>
      key === INDEX && operation === 'PutObject' ? { status: 403, code: 'AccessDenied' } : undefined;
    await expectWarned(/the index of the snapshots could not be written: .*AccessDenied/);
    expect([...stub.objects.keys(), ...stub.uploads.values()]).not.toContain(INDEX);
  });

  test('cannot be replaced, because no object can: the backup is taken with a warning, and reads the manifests that the old index lacks', async () => {
    fill(0, 70);
    await take([await open()], { targets: [{ store: await open() }] });
    const old = stub.objects.get(INDEX)!;
    fill(70, 140);
    stub.intercept = ({ key }, operation) =>
      operation === 'DeleteObject' || (operation === 'PutObject' && stub.objects.has(key))
        ? { status: 403, code: 'AccessDenied' }
        : undefined;
    stub.log.length = 0;
    await expectWarned(
      /the index of the snapshots could not be written: .*AccessDenied/,
      /\.taking could not be removed: .*AccessDenied/,
    );
    expect(stub.objects.get(INDEX)).toBe(old);
    expect(stub.log).not.toContain('GetObject orders/etcd-snapshot-20260101-000000-000000.json');
  });

  test('hangs: writing it is abandoned', async () => {
    stub.intercept = ({ key }, operation) => (key === INDEX && operation === 'PutObject' ? 'hang' : undefined);
    await expect(writeIndex(new Folder(await open(), 'orders'), [], 100)).rejects.toThrow(/timeout/);
  });
});

describe('a time-out', () => {
  const later = (controller: AbortController) =>
    controller.abort(
      new AgentError(ExitCode.timedOut, 'not done after 1s', { finding: { kind: 'timedOut', isWaiting: false } }),
    );

  test('during retention does not affect a committed snapshot', async () => {
    const store = await openS3({ bucket: stub.bucket, endpoint: stub.endpoint, credentialsDirectory });
    opened.push(store);
    for (let n = 0; n < 2; n++) await take([store], { targets: [{ store }] });
    const controller = new AbortController();
    stub.intercept = (_, operation) => {
      if (operation !== 'DeleteObject') return undefined;
      setTimeout(later, 50, controller);
      return 'hang';
    };
    const { manifest, targets } = await take([store], {}, controller.signal);
    expect(targets).toMatchObject([
      {
        verified: 'read',
        retentionError: { message: expect.stringContaining('not done after 1s'), finding: { kind: 'timedOut' } },
      },
    ]);
    stub.intercept = () => undefined;
    expect((await readCatalog(new Folder(store, 'orders'))).map(({ id }) => id)).toContain(manifest.id);
  });

  test('while one store hangs does not affect the other', async () => {
    const controller = new AbortController();
    const bad = await openS3({ bucket: stub.bucket, endpoint: stub.endpoint, credentialsDirectory });
    opened.push(bad);
    stub.intercept = (_, operation) => {
      if (operation !== 'GetObject') return undefined;
      setTimeout(later, 1_000, controller);
      return 'hang';
    };
    const timedOut = { exitCode: ExitCode.timedOut };
    await expectOne(await take([bad, healthy()], {}, controller.signal), 0, timedOut);
  });

  test('before anything is committed ends the run and leaves nothing', async () => {
    const controller = new AbortController();
    const store = await openS3({ bucket: stub.bucket, endpoint: stub.endpoint, credentialsDirectory });
    opened.push(store);
    stub.intercept = (_, operation) => {
      if (operation !== 'GetObject') return undefined;
      setTimeout(later, 50, controller);
      return 'hang';
    };
    await expect(take([store], {}, controller.signal)).rejects.toMatchObject({ exitCode: ExitCode.timedOut });
    expect([...stub.objects.keys()]).toEqual([]);
  });
});
