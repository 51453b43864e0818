import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { backupRequest, silent } from '../../../test/support/backup-request.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { takeBackup } from './take.ts';

let etcd: EtcdCluster;
let path: string;
beforeAll(async () => {
  etcd = await EtcdCluster.start();
});
afterAll(() => etcd?.stop());
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'taking-'));
});
afterEach(() => rm(path, { recursive: true }));

const isMarker = (key: string) => key.endsWith('.taking');
const no = (exitCode: ExitCode) => Promise.reject(new AgentError(exitCode, 'not this one'));

async function backup(store: FilesystemStore) {
  const log: string[] = [];
  const warnings = pino({ level: 'warn' }, { write: (line) => log.push(JSON.parse(line).msg) });
  const { manifest } = await takeBackup(backupRequest(etcd, path, [store]), { ...silent, log: warnings });
  return { id: manifest.id, log, names: (await readdir(join(path, 'orders'))).sort() };
}

test('a store that refuses the marker gets the backup all the same, with a warning', async () => {
  class Refusing extends FilesystemStore {
    override put(...args: Parameters<FilesystemStore['put']>) {
      return isMarker(args[0]) ? no(ExitCode.storeRefused) : super.put(...args);
    }
  }
  const { id, log, names } = await backup(new Refusing({ path }));
  expect(names).toEqual([`${id}.db`, `${id}.json`]);
  expect(log).toEqual([expect.stringMatching(`^orders/${id}.taking could not be written: not this one; .* killed, `)]);
});

test('the marker names the etcd', async () => {
  let text = '';
  class Reading extends FilesystemStore {
    override async put(...[key, body, options]: Parameters<FilesystemStore['put']>) {
      const put = await super.put(key, body, options);
      if (isMarker(key)) text = await readFile(join(path, key), 'utf8');
      return put;
    }
  }
  await backup(new Reading({ path }));
  expect(JSON.parse(text)).toEqual({ clusterId: expect.stringMatching(/^[0-9a-f]+$/) });
});

test('a store that fails at the marker gets none', async () => {
  class Failing extends FilesystemStore {
    override put(...args: Parameters<FilesystemStore['put']>) {
      return isMarker(args[0]) ? no(ExitCode.storeUnreachable) : super.put(...args);
    }
  }
  await expect(backup(new Failing({ path }))).rejects.toMatchObject({ exitCode: ExitCode.storeUnreachable });
});

test.each([ExitCode.storeRefused, ExitCode.storeUnreachable])(
  'a marker that cannot be removed (%i) is named: beside it, a lost manifest looks like one that was never written',
  async (code) => {
    class Keeping extends FilesystemStore {
      override delete(...args: Parameters<FilesystemStore['delete']>) {
        return isMarker(args[0]) ? no(code) : super.delete(...args);
      }
    }
    const { id, log, names } = await backup(new Keeping({ path }));
    expect(names).toEqual([`${id}.db`, `${id}.json`, `${id}.taking`]);
    expect(log).toEqual([
      expect.stringMatching(
        `^orders/${id}.taking could not be removed: not this one; .*manifest .*lost.* may be swept$`,
      ),
    ]);
  },
);

test('nothing is said of a marker that is removed', async () => {
  const { id, log, names } = await backup(new FilesystemStore({ path }));
  expect({ log, names }).toEqual({ log: [], names: [`${id}.db`, `${id}.json`] });
});
