import { known, unknown } from '../../../protocol/known.ts';
import { agent, asking, idOf, status, World } from '../../port/observed.fixture.ts';

/** Applied a moment ago: pods wait in their gates. */
const fresh = (size = 3) => {
  const world = new World(size);
  world.set({ record: known(undefined), members: unknown('no etcd'), status: {}, hash: undefined });
  world.cluster.status = {};
  for (const i of [...Array(size).keys()]) world.agent(i, asking(i));
  return world.set({
    claims: known(
      world.o.claims.known
        ? world.o.claims.v.map(({ ordinal, uid, rv }) => ({ ordinal, uid, rv, deleting: false }))
        : [],
    ),
  });
};

const entry = (id: string) => ({ id, uid: `uid of ${id}`, specHash: `hash of ${id}` });

const born = (size = 3) => fresh(size).commit();

describe('the first record', () => {
  test('is made when nothing speaks of an earlier cluster', () => {
    expect(fresh().written).toMatchObject({ rev: 1, epoch: 0, clusterUid: 'fresh-uid', seeded: false });
    expect(fresh().effect).not.toHaveProperty('basedOn');
  });

  test('waits for every agent', () => {
    expect(fresh().agent(2, undefined).plan()).toMatchObject({ why: 'InitRecord waits: every agent is known' });
  });

  test('waits while pods, claims or agents are unknown', () => {
    expect(fresh().set({ pods: unknown('403') }).effect).toBeUndefined();
    expect(fresh().set({ claims: unknown('403') }).effect).toBeUndefined();
  });

  test.each([
    ['a volume has data', (world: World) => world.agent(1, agent(1)).set({ members: unknown('no quorum') })],
    [
      'a claim names a cluster',
      (world: World) =>
        world.set({
          claims: known([{ ordinal: 2, uid: 'x', rv: '1', deleting: false, clusterUid: 'uid-1', epoch: 1 }]),
        }),
    ],
    [
      'the status knows an epoch',
      (world: World) => {
        world.cluster.status = { epoch: 1 };
        return world;
      },
    ],
  ])('is never made when %s', (_, change) => {
    const { hold, effect } = change(fresh()).plan();
    expect({ hold, effect }).toEqual({ hold: 'RecordLost', effect: undefined });
  });

  test('an impossible size or version makes none', () => {
    expect(fresh().spec({ size: 0 }).effect).toBeUndefined();
    expect(fresh().spec({ size: 0 }).reason('Accepted')).toBe('SizeRefused');
    expect(fresh().spec({ version: '3.8.0' }).effect).toBeUndefined();
  });
});

describe('a lost record', () => {
  const lost = () => new World(3).set({ record: known(undefined) });

  test('is rebuilt from volumes that a quorum attests for, beyond every revision seen', () => {
    expect(lost().written).toMatchObject({
      rev: 1010,
      epoch: 1,
      clusterUid: 'uid-1',
      token: 'token-1',
      seeded: true,
      clusterId: 'cluster-1',
      versions: { current: '3.6', allowedMinors: ['3.6'] },
      members: { 0: { memberId: idOf(0) }, 1: { memberId: idOf(1) }, 2: { memberId: idOf(2) } },
    });
    expect(lost().written?.versions.finalizedIndex).toBeUndefined();
  });

  test('pods of its claims are brought back first', () => {
    const world = lost().sts({ replicas: 1 });
    expect(world.effect).toEqual({ kind: 'ScaleTo', replicas: 3, basedOn: 'sts-rv' });
  });

  test('a volume whose member is no more gets a tombstone in the next pass', () => {
    expect(lost().removed(2).commit().written?.tombstones).toMatchObject([{ memberId: idOf(2), ordinal: 2 }]);
  });

  test('a learner that no volume attests for is not permitted again: it may have been on a volume that is lost', () => {
    const world = lost().joiner(3).learner(3).sts({ replicas: 4 }).spec({ size: 5 }).commit();
    world.o.since.evidence[3] = 0;
    expect(world.rule).toBe('GcLearner');
  });

  test('a learner whose agent was silent is taken in when its volume attests for it', () => {
    const world = lost().learner(2, { name: 'c-2' });
    world
      .members((members) => members.filter((m) => m.isLearner || m.id !== idOf(2)))
      .agent(2, undefined)
      .commit();
    expect(world.record.members).not.toHaveProperty('2');
    world.agent(2, agent(2));
    expect(world.rule).toBe('AdoptMember');
    expect(world.written).toMatchObject({
      members: { 2: { memberId: idOf(2), volumeId: 'volumeId-2', everVoter: false } },
      permits: { 2: { memberId: idOf(2), volumeId: 'volumeId-2' } },
    });
  });

  test('keeps what the agents read in it of the versions of this epoch, and of no other', () => {
    const rebuilt = (...seen: { epoch: number; bornOn?: string; finalizedIndex?: number }[]) => {
      const world = new World(3).set({ record: known(undefined) });
      for (const [i, versions] of seen.entries()) world.agent(i, agent(i, { recordVersions: versions }));
      return world.written?.versions;
    };
    const born = { epoch: 1, bornOn: '3.6.16', finalizedIndex: 0 };
    expect(rebuilt({ epoch: 1 }, born)).toMatchObject({ bornOn: '3.6.16', finalizedIndex: 0 });
    expect(rebuilt({ epoch: 1, finalizedIndex: 70 }, { epoch: 1, finalizedIndex: 0 })?.finalizedIndex).toBe(70);
    for (const seen of [[], [{ ...born, epoch: 0 }], [{ epoch: 1 }]]) {
      expect(rebuilt(...seen)).toMatchObject({ bornOn: undefined, finalizedIndex: undefined });
    }
  });

  test('keeps every restore that agents or the status know of, though its EtcdRestore has lost its status', () => {
    const restored = ({ written }: World) => written?.restores.map(({ id }) => id);
    const past = { restores: [entry('monday'), entry('tuesday')], startRevision: 5 };
    const world = lost().agent(1, agent(1, { recordPast: past }));
    expect(world.written?.restores).toMatchObject(past.restores);
    expect(world.written?.startRevision).toBe(5);
    const { volume } = agent(2);
    const other = { ...volume, identity: { ...volume.identity!, clusterUid: 'another' } };
    expect(restored(lost().agent(2, agent(2, { recordPast: past, volume: other })))).not.toEqual(['monday', 'tuesday']);
    expect(restored(lost().resource({ status: { lastRestoreId: 'tuesday' } }))).toEqual(['tuesday']);
    expect(restored(lost())).toEqual([]);
    expect(lost().written).not.toHaveProperty('startRevision');
  });

  test('keeps what agents know to be older than its data, and if none does, whatever is there beside an origin', () => {
    const older = [
      { id: 'monday', specHash: 'h' },
      { id: 'tuesday', specHash: 'h2' },
    ];
    const past = { restores: [entry('origin:u'), entry('tuesday')], olderRestores: older };
    const request = {
      ...{ name: 'wednesday', uid: 'w', createdAt: 1, specHash: 'h3', source: {} },
      phase: 'Verifying',
    };
    const wednesday = { ...request, safetyBackup: false, ignoreUnreachablePods: false };
    const restores = known([wednesday]);
    expect(lost().set({ restores }).written).not.toHaveProperty('olderRestores');
    const read = lost()
      .agent(1, agent(1, { recordPast: past }))
      .set({ restores });
    expect(read.written?.olderRestores).toEqual([older[0]]);
    const former = known([{ ...wednesday, name: 'monday', phase: 'Completed' }]);
    expect(read.set({ restores: former }).written).toMatchObject({ olderRestores: [{ id: 'monday' }] });
    expect(read.written?.restores).toEqual([expect.anything(), expect.objectContaining({ id: 'tuesday' })]);
    const unread = lost().resource({ status: { lastRestoreId: 'origin:u' } });
    expect(unread.set({ restores }).written?.olderRestores).toEqual([{ id: 'wednesday', specHash: 'h3' }]);
  });

  test('keeps the names that failed, of which agents or statuses know', () => {
    const past = { restores: [entry('monday')], failedRestores: ['sunday'] };
    const request = { ...{ uid: 'w', createdAt: 1, specHash: 'h3', source: {} }, phase: 'Failed' };
    const failed = (name: string) => ({ ...request, name, safetyBackup: false, ignoreUnreachablePods: false });
    const world = lost().agent(1, agent(1, { recordPast: past }));
    // One that was refused for the name of another does not change what is known of that name.
    world.set({ restores: known([failed('monday'), failed('tuesday')]) });
    expect(world.written).toMatchObject({ restores: [entry('monday')], failedRestores: ['sunday', 'tuesday'] });
    expect(lost().written).not.toHaveProperty('failedRestores');
  });

  test('is not rebuilt while the StatefulSet is unknown', () => {
    expect(lost().set({ statefulSet: unknown('403') }).effect).toBeUndefined();
  });

  test('is not rebuilt below an epoch that was seen', () => {
    const world = lost();
    world.cluster.status = { epoch: 2 };
    expect(world.plan().hold).toBe('RecordLost');
    expect(lost().sts({ minEpoch: 2 }).plan().hold).toBe('RecordLost');
  });

  test('nor below the epoch of a record that agents have read: its last restore has not happened', () => {
    const read = { recordPast: { restores: [entry('monday')] }, recordVersions: { epoch: 2 } };
    const world = lost().agent(1, agent(1, read));
    expect(world.plan().hold).toBe('RecordLost');
    const { volume } = agent(1);
    const other = { ...volume, identity: { ...volume.identity!, clusterUid: 'another', epoch: 0 } };
    expect(lost().agent(1, agent(1, { ...read, volume: other })).rule).toBe('RebuildRecord');
  });
});

describe('Seed', () => {
  test('a new epoch with its own token, for the one volume of ordinal 0', () => {
    const { written } = born();
    expect(written).toMatchObject({
      epoch: 1,
      token: 'fresh-token',
      permits: {
        0: {
          mode: 'new',
          volumeId: 'new-0',
          epoch: 1,
          token: 'fresh-token',
          initialCluster: 'c-0=http://c-0.c-peers.n.svc.cluster.local:2380',
        },
      },
      versions: { allowedMinors: ['3.6'], finalizedIndex: 0 },
    });
    expect(Object.keys(written!.permits)).toEqual(['0']);
  });

  test('not from an image of another version than the template says', () => {
    expect(born().rule).toBe('Seed');
    expect(born().sts({ imageVersion: '3.7.3' }).effect).toBeUndefined();
  });

  test('one permit is enough for one volume; a wiped volume gets a new epoch', () => {
    const world = born().commit();
    expect(world.effect).toBeUndefined();
    world.agent(0, asking(0, 'wiped'));
    expect(world.written).toMatchObject({ epoch: 2, permits: { 0: { volumeId: 'wiped', epoch: 2 } } });
  });

  test('not when the cluster is born from a backup', () => {
    const world = born().spec({ origin: { source: { backupName: 'b' } } });
    expect(world.rule).toBe('Origin');
  });

  test('born on 3.5, what it wrote is not settled', () => {
    const world = born().spec({ version: '3.5.35' });
    world.agent(0, asking(0, 'new-0', { etcdBinary: '3.5.35' }));
    expect(world.written?.versions).toEqual({ current: '3.5', allowedMinors: ['3.5'], bornOn: '3.5.35' });
  });

  test('the record follows a template that moved on before the seed served', () => {
    const world = born().commit();
    const waiting = asking(0, 'new-0', { etcdBinary: '3.7.3', state: 'Refused', reason: 'VersionRefused' });
    const { request: _, ...refused } = waiting;
    world.agent(0, refused);
    expect(world.written?.versions.allowedMinors).toEqual(['3.7']);
  });
});

describe('MarkSeeded', () => {
  const serving = () => {
    const world = born().commit();
    const started = agent(0, { recordRev: 1 });
    const identity = { ...started.volume.identity!, clusterUid: 'fresh-uid', permitId: 'fresh-id', volumeId: 'new-0' };
    world.agent(0, { ...started, volume: { ...started.volume, identity } });
    world.set({ members: new World(1).o.members, status: { [idOf(0)]: known(status()) } });
    return world;
  };

  test('the claim first, then the record', () => {
    const world = serving();
    expect(world.effect).toMatchObject({ kind: 'AnnotateClaim', ordinal: 0, clusterUid: 'fresh-uid', epoch: 1 });
    const claims = world.o.claims.known ? world.o.claims.v : [];
    world.set({
      claims: known(
        claims.map((claim) => (claim.ordinal === 0 ? { ...claim, clusterUid: 'fresh-uid', epoch: 1 } : claim)),
      ),
    });
    expect(world.written).toMatchObject({
      phase: 'Seeding',
      seeded: true,
      clusterId: 'cluster-1',
      members: { 0: { memberId: idOf(0), volumeId: 'new-0', everVoter: true } },
      permits: {},
    });
  });

  test('an ephemeral cluster has no claim to annotate', () => {
    expect(
      serving()
        .spec({ ephemeral: true })
        .set({ claims: known([]) }).written,
    ).toMatchObject({ seeded: true });
  });

  test('the record follows what the seed runs', () => {
    const world = serving()
      .spec({ ephemeral: true })
      .set({ claims: known([]) });
    world.o.status[idOf(0)] = known(status({ version: '3.5.35' }));
    expect(world.written?.versions).toEqual({ current: '3.5', allowedMinors: ['3.5'], bornOn: '3.5.35' });
  });

  test('not a seed whose etcd is of another version than its template says', () => {
    const world = serving()
      .spec({ ephemeral: true })
      .set({ claims: known([]) });
    expect(world.rule).toBe('MarkSeeded');
    const { agents } = world.o;
    const seed = agents[0]!.known ? agents[0]!.v : agent(0);
    world.agent(0, { ...seed, state: 'Refused', reason: 'VersionMismatch' });
    expect(world.effect).toBeUndefined();
    // The manifests were applied again: the pod follows them, because otherwise it would stay so forever.
    world.sts({ updateRevision: 'r2' });
    expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 0, uid: 'pod-0' });
    expect(world.rule).toBe('RestartSeed');
    expect(world.sts({ imageVersion: '3.7.3' }).effect).toBeUndefined();
  });

  describe('whose version is lowered before it was seen to serve', () => {
    const lowered = () =>
      serving()
        .spec({ ephemeral: true, version: '3.5.35' })
        .set({ claims: known([]) })
        .sts({ version: '3.5.35', updateRevision: 'r2' });
    const refusing = (change: object = {}) => {
      const world = lowered();
      const { agents } = world.o;
      const seed = agents[0]!.known ? agents[0]!.v : agent(0);
      const volume = { ...seed.volume, ...change };
      const { etcd: _, ...waiting } = seed;
      return world
        .agent(0, { ...waiting, state: 'Refused', reason: 'VersionRefused', etcdBinary: '3.5.35', volume })
        .set({ members: unknown('no etcd') });
    };

    test('is not taken over, but restarted', () => {
      expect(lowered().rule).toBe('RestartSeed');
      expect(lowered().effect).toEqual({ kind: 'DeletePod', ordinal: 0, uid: 'pod-0' });
      // A newer minor is an upgrade, which waits for its turn.
      expect(lowered().sts({ version: '3.7.3' }).rule).toBe('MarkSeeded');
    });

    test('begins again in the next epoch, which its gate moves the data away for', () => {
      const world = refusing();
      expect(world.rule).toBe('SeedAnew');
      expect(world.written).toMatchObject({
        ...{ epoch: 2, minEpoch: 0, phase: 'Seeding', seeded: false, permits: {}, token: 'fresh-token' },
        versions: { current: '3.5', allowedMinors: ['3.5'], bornOn: '3.5.35' },
      });
      const next = world.commit().agent(0, asking(0, 'another', { etcdBinary: '3.5.35' }));
      expect(next.rule).toBe('Seed');
      expect(next.written).toMatchObject({ epoch: 3, permits: { 0: { mode: 'new', volumeId: 'another' } } });
    });

    test('is refused once it served, with what a new cluster can do', () => {
      const young = new World(3, { version: '3.5.35' }).doc({ phase: 'Seeding' });
      expect(young.message('Accepted')).toContain('or delete this new cluster with its volumes and its record');
      expect(new World(3, { version: '3.5.35' }).message('Accepted')).toContain('restore a backup into a new cluster');
    });

    test('not with data of another epoch, after it served, or while a restore makes the seed', () => {
      const identity = agent(0).volume.identity!;
      expect(refusing({ identity: { ...identity, epoch: 7 } }).rule).not.toBe('SeedAnew');
      expect(refusing().doc({ seeded: true }).rule).not.toBe('SeedAnew');
      expect(refusing().doc({ phase: 'Restoring' }).rule).not.toBe('SeedAnew');
    });
  });

  test('not when another cluster answers at its address', () => {
    const world = serving();
    world.o.status[idOf(0)] = known(status({ clusterId: 'another' }));
    expect(world.effect).toBeUndefined();
  });
});

test('a new cluster is called available once it has its size, and from then on by its quorum', () => {
  const world = new World(3).doc({ phase: 'Seeding' }).removed(2);
  expect(world.rule).not.toBe('MarkGrown');
  expect(world.reason('Available')).toBe('Bootstrapping');
  const grown = new World(3).doc({ phase: 'Seeding' });
  expect(grown.rule).toBe('MarkGrown');
  expect(grown.commit().reason('Available')).toBe('Serving');
  expect(new World(3).removed(2).reason('Available')).toBe('Serving');
});

test('all pods start at once', () => {
  const world = born(5).sts({ replicas: 1 });
  expect(world.effect).toEqual({ kind: 'ScaleTo', replicas: 5, basedOn: 'sts-rv' });
});

test('a pod that never started follows a fixed template at once', () => {
  const world = born().commit().pod(1, { revision: 'r0', ready: false }).agent(1, undefined);
  expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 1, uid: 'pod-1' });
});

test('without a StatefulSet nothing happens, and the missing object is reported', () => {
  const world = fresh().set({ statefulSet: known(undefined) });
  expect(world.plan()).toMatchObject({ hold: 'ManifestsMissing' });
  // The suite same-bytes shows that the resource contains what the other objects do.
  for (const type of ['Stalled', 'Ready']) {
    expect(world.message(type)).toContain('kubectl get etcdcluster c -n n -o yaml | kubectl etcd render - ');
  }
});

test('no EtcdCluster, or an unknown one: hands off', () => {
  expect(new World().set({ cluster: known(undefined) }).plan()).toMatchObject({
    why: 'there is no EtcdCluster, so nothing is done',
  });
  expect(new World().set({ cluster: unknown('timeout') }).effect).toBeUndefined();
});
