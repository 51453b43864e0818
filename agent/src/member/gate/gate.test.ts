import { X509Certificate } from 'node:crypto';
import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueRoot } from '../../controllers/certificates/issue.ts';
import type { Permit, RecordDoc, Transport } from '../../protocol/record.ts';
import type { GateStep } from '../steps.ts';
import { permit, recordDoc, TestGate, volumeIdOf } from './gate.fixture.ts';

/** Writes a record that permits the current request of ordinal 0. */
async function permitted(gate: TestGate, change: Partial<Permit> = {}, doc: Partial<RecordDoc> = {}): Promise<void> {
  const { request } = await gate.until((status) => status.request !== undefined);
  await gate.record(recordDoc({ ...doc, permits: { 0: permit({ volumeId: request!.volumeId, ...change }) } }));
}

const configOf = async (gate: TestGate): Promise<Record<string, string>> =>
  Object.fromEntries((await gate.read('etcd.yaml')).split('\n').map((line) => line.split(/: (.*)/).slice(0, 2)));

describe('an empty volume', () => {
  test('waits, shows its volumeId, and begins a cluster when it is permitted', async () => {
    await using gate = await TestGate.make();
    gate.start();
    await permitted(gate);
    expect(await gate.end()).toBe('started');
    expect(gate.steps).toEqual(['volumeId.written', 'identity.permitted', 'config.permitted']);
    expect(await configOf(gate)).toMatchObject({
      'initial-cluster-state': '"new"',
      'initial-cluster': '"c-0=http://127.0.0.1:2380"',
      'initial-cluster-token': '"token-1"',
    });
    expect(JSON.parse(await gate.read('identity.json'))).toMatchObject({ state: 'permitted', mode: 'new', runs: 0 });
  });

  test('shows for how long it has waited, until it is permitted', async () => {
    await using gate = await TestGate.make();
    const waited = async () =>
      (await gate.server.metrics()).find(({ name }) => name === 'etcd_agent_permit_wait_seconds')?.value;
    gate.start();
    await permitted(gate, {
      mode: 'existing',
      initialCluster: 'c-0=http://127.0.0.1:2380,c-1=http://no-such.invalid:2380',
    });
    await gate.until(({ reason }) => reason === 'NameNotResolved');
    expect(await waited()).toBe(0);
    await gate.record(recordDoc());
    await gate.until(({ state }) => state === 'WaitPermit');
    const first = await waited();
    await sleep(50);
    expect(await waited()).toBeGreaterThan(first!);
  });

  test('asks with the same volumeId after each restart', async () => {
    await using gate = await TestGate.make();
    gate.start();
    const first = await gate.until((status) => status.request !== undefined);
    await gate.stop();
    gate.start();
    const second = await gate.until((status) => status.request !== undefined);
    expect(second.request).toEqual(first.request);
  });

  test('joins with the list of its permit, once the name of another member in it resolves', async () => {
    await using gate = await TestGate.make();
    gate.start();
    const others = 'c-1=http://no-such-host.invalid:2380';
    await permitted(gate, { mode: 'existing', initialCluster: `c-0=http://127.0.0.1:2380,${others}` });
    const waiting = await gate.until(({ reason }) => reason === 'NameNotResolved');
    expect(waiting).toMatchObject({
      state: 'Preparing',
      message: expect.stringMatching(/^no-such-host\.invalid does/),
    });
    expect(waiting.request).toBeDefined();
    expect(await readdir(gate.data)).not.toContain('identity.json');

    await permitted(gate, { mode: 'existing', initialCluster: 'c-1=http://127.0.0.1:3380' });
    await gate.until(({ message = '' }) => message.startsWith("the permit's initial-cluster does not list c-0="));

    // The others listen at another address. One member is down, and its name resolves no more.
    const list = `c-0=http://127.0.0.1:2380,${others},c-2=http://localhost:3380`;
    await permitted(gate, { mode: 'existing', memberId: 'abc', initialCluster: list });
    expect(await gate.end()).toBe('started');
    expect(await configOf(gate)).toMatchObject({
      'initial-cluster-state': '"existing"',
      'initial-cluster': `"${list}"`,
    });
    expect(JSON.parse(await gate.read('identity.json'))).toMatchObject({ memberId: 'abc', mode: 'existing' });
  });

  test('joins with all of its URLs in the list of its permit', async () => {
    await using gate = await TestGate.make();
    gate.start();
    const both = (pod: string, port: number) =>
      ['http', 'https'].map((scheme) => `${pod}=${scheme}://127.0.0.1:${port}`);
    const list = [...both('c-0', 2380), ...both('c-1', 3380)].join();
    const join = { mode: 'existing', memberId: 'abc' } as const;
    await permitted(gate, { ...join, initialCluster: 'c-0=https://127.0.0.1:2380,c-1=http://127.0.0.1:3380' });
    const { message } = await gate.until(({ reason }) => reason === 'NameNotResolved');
    expect(message).toBe(
      "the permit's initial-cluster does not list c-0=http://127.0.0.1:2380; waiting for another permit",
    );
    await permitted(gate, { ...join, initialCluster: list });
    expect(await gate.end()).toBe('started');
    expect(await configOf(gate)).toMatchObject({
      'initial-cluster': `"${list}"`,
      'initial-advertise-peer-urls': '"http://127.0.0.1:2380,https://127.0.0.1:2380"',
      'listen-peer-urls': '"http://0.0.0.0:2380"',
    });
  });

  test('does not join while its own name resolves to another address', async () => {
    await using gate = await TestGate.make();
    gate.env.POD_IP = '10.9.9.9';
    gate.start();
    await permitted(gate, { mode: 'existing' });
    const { message } = await gate.until(({ reason }) => reason === 'NameNotResolved');
    expect(message).toBe('127.0.0.1 resolves to 127.0.0.1, but the address of this pod is 10.9.9.9; waiting for DNS');
  });
});

describe('a volume with data', () => {
  test('starts on its sealed config without any record', async () => {
    await using gate = await TestGate.make();
    await gate.sealed({ state: 'permitted' });
    await mkdir(join(gate.dir, 'record.json'));
    expect(await gate.run()).toBe('started');
    expect(await configOf(gate)).toMatchObject({
      'initial-cluster-state': '"existing"',
      'initial-cluster': '"c-0=http://127.0.0.1:2380"',
    });
    expect(JSON.parse(await gate.read('identity.json'))).toMatchObject({ state: 'sealed', runs: 2 });
    expect(gate.server.status()).toMatchObject({ state: 'Starting', volume: { walPresent: true } });
  });

  test('caches the record for later starts without it', async () => {
    await using gate = await TestGate.make();
    await gate.sealed({ lastVersion: '3.5.30' });
    await gate.record(recordDoc({ versions: { current: '3.5', allowedMinors: ['3.5', '3.6'] } }));
    expect(await gate.run('identity.started')).toBe('crashed');
    await gate.sealed({ lastVersion: '3.5.30' });
    await gate.record('gone');
    expect(await gate.run()).toBe('started');
    expect(gate.server.status().recordRev).toBe(5);
  });

  test('that was set back behind its mark waits until its member is removed, and then asks as a new one', async () => {
    await using gate = await TestGate.make();
    await gate.sealed();
    const member = { memberId: 'abc', volumeId: volumeIdOf('a'), epoch: 1, everVoter: true };
    const marked = (index: number) => recordDoc({ members: { 0: { ...member, reached: { index, revision: 2 } } } });
    // A file of the log is named after its first entry.
    await gate.file('etcd/member/wal/0000000000000001-0000000000000384.wal', 'log');
    await gate.record(marked(0x383));
    expect(await gate.run()).toBe('started');
    await gate.record(marked(0x384));
    gate.start();
    const { message, request } = await gate.until(({ reason }) => reason === 'VolumeSetBack');
    expect(message).toMatch(/^the write-ahead log ends at index 899, but member abc had reached 900: /);
    expect(request).toBeUndefined();
    await gate.record(recordDoc({ tombstones: [{ memberId: 'abc', ordinal: 0, epoch: 1, at: '', why: 'Dead' }] }));
    const { volume } = await gate.until((status) => status.request !== undefined);
    expect(volume).toMatchObject({ walPresent: false, quarantineCount: 1 });
  });

  test('an edited config is overwritten, and the log says so', async () => {
    await using gate = await TestGate.make();
    await gate.sealed();
    await gate.run();
    const ours = await gate.read('etcd.yaml');
    await gate.file('etcd.yaml', `${ours}force-new-cluster: true\n`);
    await gate.run();
    expect(await gate.read('etcd.yaml')).toBe(ours);
    expect(gate.logged).toContain('etcd.yaml was edited by hand');
  });

  test('the rest of a failed defragmentation and of a failed restore is cleared', async () => {
    await using gate = await TestGate.make();
    await gate.sealed();
    await gate.file('etcd/member/snap/db.tmp.123', 'rest');
    await gate.file('work/restore.partial/member/snap/db', 'rest');
    await gate.run();
    expect(Object.values(await gate.tree())).not.toContain('rest');
    expect(await gate.tree()).toMatchObject({ 'etcd/member/snap/db': 'database' });
  });
});

describe('a pod with certificates', () => {
  const transport: Transport = { peers: 'http', clients: 'both', target: 'https', since: '2026-11-21T22:00:00.000Z' };

  async function withCertificates(): Promise<TestGate> {
    const gate = await TestGate.make();
    const { cert } = await issueRoot('c root', Date.now());
    for (const name of ['tls.crt', 'tls.key', 'ca.crt']) await gate.file(`../tls/${name}`, cert);
    Object.assign(gate.args, { 'peer-tls-dir': join(gate.dir, 'tls'), 'server-tls-dir': join(gate.dir, 'tls') });
    return gate;
  }

  const halfWay = {
    'listen-peer-urls': '"http://0.0.0.0:2380"',
    'initial-advertise-peer-urls': '"http://127.0.0.1:2380"',
    'listen-client-urls': '"http://0.0.0.0:2379,https://0.0.0.0:2379"',
    'advertise-client-urls': '"http://127.0.0.1:2379"',
  };
  const complete = {
    'listen-peer-urls': '"https://0.0.0.0:2380"',
    'initial-advertise-peer-urls': '"https://127.0.0.1:2380"',
    'listen-client-urls': '"https://0.0.0.0:2379"',
    'advertise-client-urls': '"https://127.0.0.1:2379"',
  };

  test('begins a cluster as the record says, with its certificates loaded', async () => {
    await using gate = await withCertificates();
    gate.start();
    await permitted(gate, {}, { transport });
    expect(await gate.end()).toBe('started');
    expect(await configOf(gate)).toMatchObject({ ...halfWay, 'initial-cluster': '"c-0=http://127.0.0.1:2380"' });
    expect(await gate.read('etcd.yaml')).toMatch(/^client-transport-security:\n[\s\S]*^peer-transport-security:\n/m);
    expect(gate.server.status()).toMatchObject({
      transport: { peers: 'http', clients: 'both', hasCertificates: true },
    });
  });

  test('starts again as the record says, or as the one that the volume has seen last', async () => {
    await using gate = await withCertificates();
    await gate.sealed();
    await gate.record(recordDoc({ transport }));
    expect(await gate.run()).toBe('started');
    expect(await configOf(gate)).toMatchObject(halfWay);
    for (const unusable of ['gone', recordDoc({ rev: 4 }), { v: 2 }]) {
      await gate.record(unusable);
      expect(await gate.run()).toBe('started');
      expect(await configOf(gate)).toMatchObject(halfWay);
    }
    await gate.record(recordDoc({ rev: 6, transport: { ...transport, peers: 'https', clients: 'https' } }));
    expect(await gate.run()).toBe('started');
    expect(await configOf(gate)).toMatchObject(complete);
  });

  test('speaks https with a record that says nothing', async () => {
    await using gate = await withCertificates();
    await gate.sealed();
    await gate.record(recordDoc());
    expect(await gate.run()).toBe('started');
    expect(await configOf(gate)).toMatchObject(complete);
    expect(gate.server.status().transport).toEqual({ peers: 'https', clients: 'https', hasCertificates: true });
  });
});

/** Expected content of the volume after each way through the gate, no matter how often the gate was stopped. */
const ways: Record<string, { prepare(gate: TestGate): Promise<void>; minEpoch?: string; permit?: boolean }> = {
  'a first start': { prepare: async () => {}, permit: true },
  'a later start': { prepare: (gate) => gate.sealed() },
  'a start after a crash before the seal': { prepare: (gate) => gate.sealed({ state: 'permitted' }) },
  'an old epoch': { prepare: (gate) => gate.sealed({ epoch: 1 }), minEpoch: '2', permit: true },
  'an emptied volume': {
    permit: true,
    prepare: async (gate) => {
      await gate.sealed();
      await rm(join(gate.data, 'etcd/member/wal'), { recursive: true });
    },
  },
  'the rest of a refused start': {
    permit: true,
    prepare: async (gate) => {
      await gate.sealed({ state: 'permitted' });
      await rm(join(gate.data, 'etcd/member/wal'), { recursive: true });
    },
  },
};

async function go(gate: TestGate, way: string, crashAt?: GateStep): Promise<'started' | 'crashed'> {
  const { minEpoch = '', permit: asks } = ways[way]!;
  gate.env.MIN_EPOCH = minEpoch;
  gate.start(crashAt);
  const epoch = Number(minEpoch) || 1;
  // A gate that crashes early has not requested a permit yet.
  const asked = asks && permitted(gate, { epoch }, { epoch }).catch(() => {});
  const outcome = await gate.end();
  await asked;
  return outcome;
}

/** Everything that does not differ between runs, and the location of the data. */
async function essence(gate: TestGate): Promise<unknown> {
  const tree = await gate.tree();
  const { runs, volumeId, ...identity } = JSON.parse(tree['identity.json']!);
  const data = Object.entries(tree).filter(([path]) => /(^|\/)etcd\//.test(path));
  return {
    identity,
    sameVolumeId: volumeId === tree['volume-id']!.trim(),
    isOldVolumeId: volumeId === volumeIdOf('a'),
    config: tree['etcd.yaml']!.replaceAll(gate.dir, '').replace(/^#.*/, ''),
    data: data.map(([path, content]) => `${path.startsWith('quarantine/') ? 'quarantine' : 'etcd'} ${content}`).sort(),
    retired: Object.keys(tree).filter((path) => /^quarantine\/.*identity\.json$/.test(path)).length,
  };
}

describe.each(Object.keys(ways))('%s', (way) => {
  test('ends the same after a crash at each step', async () => {
    await using undisturbed = await TestGate.make();
    await ways[way]!.prepare(undisturbed);
    expect(await go(undisturbed, way)).toBe('started');
    const wanted = await essence(undisturbed);
    expect(wanted).toMatchObject({ sameVolumeId: true });
    for (const step of undisturbed.steps as GateStep[]) {
      await using gate = await TestGate.make();
      await ways[way]!.prepare(gate);
      expect([step, await go(gate, way, step)]).toEqual([step, 'crashed']);
      expect([step, await go(gate, way)]).toEqual([step, 'started']);
      expect([step, await essence(gate)]).toEqual([step, wanted]);
    }
  });
});

describe('refused, with the reason in /status and nothing changed', () => {
  const cases: [string, string, string, (gate: TestGate) => Promise<unknown>][] = [
    ['Refused', 'ForeignData', "somebody's files", (gate) => gate.file('member/snap/db')],
    ['Refused', 'ForeignData', 'an etcd from elsewhere', (gate) => gate.file('etcd/member/wal/0-0.wal')],
    [
      'Refused',
      'ForeignData',
      'a volume of another cluster',
      async (gate) => {
        await gate.sealed({ clusterUid: 'other' });
        await gate.record(recordDoc());
      },
    ],
    ['Refused', 'ForeignData', 'a volume of another ordinal', (gate) => gate.sealed({ ordinal: 1 })],
    [
      'Refused',
      'ForeignData',
      'a damaged identity.json',
      async (gate) => {
        await gate.sealed();
        await gate.file('identity.json', '{"v":1,');
      },
    ],
    [
      'Refused',
      'ForeignData',
      'an identity.json of a later format',
      async (gate) => {
        await gate.sealed();
        await gate.file('identity.json', '{"v":2}');
      },
    ],
    [
      'Refused',
      'VersionRefused',
      'a minor that was not allowed',
      async (gate) => {
        await gate.sealed({ lastVersion: '3.5.30' });
        await gate.record(recordDoc({ versions: { current: '3.5', allowedMinors: ['3.5'] } }));
      },
    ],
    [
      'Refused',
      'ConfigRefused',
      'peers with https, and no certificates',
      async (gate) => {
        await gate.sealed();
        const since = '2026-11-21T22:00:00.000Z';
        await gate.record(recordDoc({ transport: { peers: 'https', clients: 'https', target: 'https', since } }));
      },
    ],
    [
      'Failed',
      'ConfigRefused',
      'settings with a mistake',
      async (gate) => {
        await gate.sealed();
        await gate.settings({ 'snapshot-count': 'many' });
      },
    ],
  ];

  test.each(cases)('%s %s: %s', async (state, reason, _, prepare) => {
    await using gate = await TestGate.make();
    await prepare(gate);
    const before = await gate.tree();
    gate.start();
    const status = await gate.until((now) => now.state === state);
    expect(status).toMatchObject({ reason, message: expect.stringMatching(/.{20}/) });
    // A request without a WAL is evidence of a lost volume.
    expect(status.request).toBeUndefined();
    expect(status.transport === undefined).toBe(state === 'Refused');
    await gate.stop();
    expect(await gate.tree()).toEqual(before);
  });

  test.each([
    ['an operation of a later release', { ...recordDoc(), op: { kind: 'Dance' } }, /op/],
    ['a newer version', { ...recordDoc(), v: 2 }, /2|v/],
  ])('a record with %s permits nothing and moves nothing', async (_, doc, message) => {
    await using gate = await TestGate.make();
    gate.start();
    const { request } = await gate.until((status) => status.request !== undefined);
    await gate.record({ ...doc, epoch: 9, permits: { 0: permit({ volumeId: request!.volumeId, epoch: 9 }) } });
    const status = await gate.until(({ reason }) => reason === 'RecordNotUnderstood');
    expect(status).toMatchObject({ state: 'WaitPermit', message: expect.stringMatching(message), request });
    await gate.stop();
    await gate.sealed();
    expect(await gate.run()).toBe('started');
    expect(await gate.tree()).toMatchObject({ 'etcd/member/snap/db': 'database' });
  });

  test('waits for each certificate file, and names it', async () => {
    await using gate = await TestGate.make();
    await gate.sealed();
    const { cert } = await issueRoot('c peers root', Date.now());
    gate.args['peer-tls-dir'] = join(gate.dir, 'tls');
    gate.args['peer-url'] = 'https://127.0.0.1:2380';
    gate.start();
    for (const name of ['tls.crt', 'tls.key', 'ca.crt']) {
      const waiting = await gate.until(({ message = '' }) => message.includes(`tls/${name} does not exist yet`));
      expect(waiting).toMatchObject({
        state: 'Preparing',
        message: expect.stringContaining('the reconciler, or cert-'),
      });
      await gate.file(`../tls/${name}`, name === 'ca.crt' ? cert : 'x');
    }
    expect(await gate.end()).toBe('started');
    expect(await gate.read('etcd.yaml')).toContain('peer-transport-security:');
    // The sidecar may observe a moment before etcd starts.
    const root = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase().slice(0, 16);
    expect(JSON.parse(await gate.read('roots.json'))).toMatchObject({ seen: { peer: { root } } });
  });
});

test('the second pod on one volume waits for the first, and says so', async () => {
  await using first = await TestGate.make();
  first.start();
  await first.until((status) => status.request !== undefined);
  await using second = await TestGate.make();
  second.args['data-dir'] = first.data;
  second.start();
  const status = await second.until(({ reason }) => reason === 'VolumeBusy');
  expect(status.request).toBeUndefined();
  await first.stop();
  await second.until((now) => now.request !== undefined);
});

test('a volume that cannot be written is reported', async () => {
  await using gate = await TestGate.make();
  await rm(gate.data, { recursive: true });
  gate.start();
  await gate.until(({ state, message = '' }) => state === 'Init' && message.includes(gate.data));
  await mkdir(gate.data);
  await chmod(gate.data, 0o700);
  await gate.until((status) => status.request !== undefined);
});
