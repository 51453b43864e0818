import type { RecordDoc } from '../../../src/protocol/record.ts';
import { isOrigin } from '../../../src/protocol/restore-id.ts';
import { fresh, minorOf, withClaim, withPod, withVolume } from './change.ts';
import { raftIndex } from './etcd.ts';
import { look } from './gate.ts';
import { isUp, settled, withCluster, write } from './processes.ts';
import { AT_POD_1, NOW, readIn } from './see.ts';
import { podCreated, podGone, type Step, withJob } from './steps.ts';
import type { Budget, Spec, World } from './world.ts';

/** Events of the world, as long as the budget lasts. */
export type FaultKind =
  | 'podLost'
  | 'volumeLost'
  | 'emptied'
  | 'nodeOff'
  | 'nodeTaken'
  | 'claimDeleted'
  | 'nodeLost'
  | 'oldVolume'
  | 'setBack'
  | 'etcdCrash'
  | 'recordLost'
  | 'statusLost'
  | 'jobFails'
  | 'jobRefused'
  | 'resultLost'
  | 'jobStuck'
  | 'addedByHand'
  | 'addedAtAPod'
  | 'noApi'
  | 'jobGone'
  | 'storeRefuses'
  | 'noSpace'
  | 'fullAgain'
  | 'corrupt'
  | 'differs'
  | 'snapshotReplaced'
  | 'scaledByHand'
  | 'templateUndone'
  | 'backupBegins'
  | 'wrongImage'
  | 'brokenTemplate'
  | 'noEviction';

export interface Edit {
  readonly text: string;
  readonly apply: (spec: Spec, world: World) => Partial<World> | undefined;
}

const spent = (world: World, kind: keyof Budget): World => ({
  ...world,
  budget: { ...world.budget, [kind]: world.budget[kind] - 1 },
});

export function faults(world: World, kinds: readonly FaultKind[]): Step[] {
  const found: Step[] = heals(world);
  if (world.budget.faults <= 0) return found;
  for (const kind of kinds) {
    for (const [text, next] of FAULTS[kind](world)) if (next) found.push({ text, next: spent(next, 'faults') });
  }
  return found;
}

type Possible = [string, World | undefined][];
const each = (world: World, of: (i: number) => Possible): Possible => world.pods.flatMap((_, i) => of(i));

const FAULTS: Record<FaultKind, (world: World) => Possible> = {
  podLost: (w) => each(w, (i) => [[`pod ${i} is evicted`, podGone(w, i)]]),
  volumeLost: (w) =>
    each(w, (i) => (w.volumes[i] ? [[`the volume of ${i} is lost, its pod too`, volumeLost(w, i)]] : [])),
  emptied: (w) =>
    each(w, (i) =>
      w.volumes[i]?.wal ? [[`the data directory of ${i} is emptied, its pod restarted`, emptied(w, i)]] : [],
    ),
  nodeOff: (w) =>
    each(w, (i) => {
      const pod = w.pods[i];
      return pod && !pod.cut ? [[`the node of ${i} is off`, settled(withPod(w, i, { ...pod, cut: true }))]] : [];
    }),
  nodeTaken: (w) =>
    each(w, (i) =>
      each(w, (j) => [[`pod ${j} is evicted; the new volume of ${i} was made on its node`, nodeTaken(w, i, j)]]),
    ),
  claimDeleted: (w) =>
    each(w, (i) => {
      const claim = w.claims[i];
      return claim && !claim.deleting && w.pods[i]
        ? [
            [
              `the volume claim of ${i} is deleted by hand, its pod stays`,
              withClaim(w, i, { ...claim, deleting: true }),
            ],
          ]
        : [];
    }),
  nodeLost: (w) =>
    each(w, (i) => (w.claims[i] && w.pods[i] ? [[`the node of ${i} burns down with its volume`, burnt(w, i)]] : [])),
  oldVolume: (w) => (w.shelf ? [[`the old volume of ${w.shelf.ordinal} is back`, reattached(w)]] : []),
  setBack: (w) =>
    each(w, (i) => [[`storage sets the volume of ${i} back behind its mark, its pod restarted`, setBack(w, i)]]),
  etcdCrash: (w) =>
    each(w, (i) => {
      const pod = w.pods[i];
      return isUp(pod) ? [[`etcd of ${i} is killed`, settled(withPod(w, i, { ...pod, state: 'stopped' }))]] : [];
    }),
  recordLost: (w) => (w.record ? recordLost(w, w.record.doc) : []),
  statusLost: (w) =>
    w.restores
      .filter(({ phase }) => phase)
      .map((restore) => [
        `EtcdRestore ${restore.name} is brought back without its status`,
        { ...w, restores: w.restores.map((r) => (r === restore ? { ...r, phase: undefined } : r)) },
      ]),
  jobFails: (w) =>
    w.jobs
      .filter((j) => j.state === 'Running' && !j.deleting)
      .map((j) => [`Job ${j.kind} fails`, withJob(w, j, { ...j, state: 'Failed', serving: undefined })]),
  jobRefused: (w) =>
    w.jobs
      .filter((j) => j.state === 'Running' && !j.deleting)
      .map((j) => [
        `the store refuses Job ${j.kind}`,
        withJob(w, j, { ...j, state: 'Failed', serving: undefined, refused: true }),
      ]),
  jobGone: (w) =>
    w.jobs.map((j) => [`Job ${j.kind} is deleted by hand`, { ...w, jobs: w.jobs.filter((o) => o !== j) }]),
  storeRefuses: (w) => [['the store refuses every backup', w.refusing ? undefined : { ...w, refusing: true as const }]],
  resultLost: (w) =>
    w.jobs
      .filter((j) => !j.deleting && !j.lost && (j.serving ?? j.state === 'Succeeded'))
      .map((j) => [
        `the pod of Job ${j.kind} is drained, what it said is lost`,
        withJob(w, j, { ...j, state: 'Succeeded', serving: undefined, lost: true }),
      ]),
  jobStuck: (w) =>
    w.jobs
      .filter((j) => j.state === 'Running' && !j.deleting && !j.serving && !j.stuck)
      .map((j) => [`the pod of Job ${j.kind} finds no node`, withJob(w, j, { ...j, stuck: true })]),
  addedByHand: (w) =>
    w.clusters.map((c) => {
      const [next, id] = fresh(w, 'm');
      const added = { id, ordinal: -1, learner: true, started: false };
      const isFree = c.leader && c.members.every((m) => !m.learner);
      return [
        'a learner is added by hand at another address',
        isFree ? withCluster(next, { ...c, members: [...c.members, added] }) : undefined,
      ];
    }),
  addedAtAPod: (w) =>
    w.clusters.map((c) => {
      const [next, id] = fresh(w, 'm');
      const added = { id, ordinal: AT_POD_1, learner: false, started: false };
      const isFree = c.leader && c.members.length > 1 && c.members.every((m) => m.ordinal >= 0 && !m.learner);
      return [
        'a voter is added by hand at the address of pod 1, with another scheme',
        isFree ? withCluster(next, { ...c, members: [added, ...c.members] }) : undefined,
      ];
    }),
  noApi: (w) =>
    each(w, (i) => [
      [`pod ${i} is created, its gate cannot read the record`, podCreated(w, i, false)],
      [`the gate of ${i} looks, but cannot read the record`, changed(w, look(w, i, false))],
    ]),
  noSpace: (w) =>
    w.clusters.flatMap((c): Possible => {
      const alarms = c.members.filter((m) => !m.learner).map((m) => m.id);
      const isSkipped = c.noSpace || !c.leader || w.record?.doc.op?.kind === 'ClearNoSpace';
      return (['old', 'new', 'values'] as const).map((of) => [
        `the database is full of ${of === 'values' ? of : `${of} revisions`}: NOSPACE`,
        isSkipped ? undefined : withCluster(w, { ...c, noSpace: { alarms, compacted: false, small: [], of } }),
      ]);
    }),
  fullAgain: (w) => {
    const op = w.record?.doc.op;
    if (op?.kind !== 'ClearNoSpace' || op.step !== 'disarm') return [];
    return w.clusters.map((c) => [
      'the databases have grown again',
      c.noSpace?.small.length
        ? withCluster(w, { ...c, noSpace: { ...c.noSpace, small: [], of: 'values' } })
        : undefined,
    ]);
  },
  corrupt: (w) =>
    w.clusters.flatMap((c) =>
      c.members
        .filter((m) => !m.learner && c.leader && !c.corrupt && c.members.length > 1)
        .map(
          (m) =>
            [`the data of ${m.ordinal} differ: CORRUPT`, withCluster(w, { ...c, corrupt: m.id })] as [string, World],
        ),
    ),
  differs: (w) =>
    w.clusters.flatMap((c) =>
      c.members
        .filter((m) => !m.learner && c.leader && !c.differs && m.id !== c.corrupt && c.members.length > 1)
        .map(
          (m) =>
            [`the data of ${m.ordinal} differ, no alarm`, unseen(withCluster(w, { ...c, differs: m.id }))] as [
              string,
              World,
            ],
        ),
    ),
  snapshotReplaced: (w) =>
    w.store
      .filter((s) => s.foreign && !s.replaced)
      .map((s) => [
        `${s.id} is replaced in the store`,
        { ...w, store: w.store.map((o) => (o === s ? { ...s, replaced: true as const } : o)) },
      ]),
  scaledByHand: (w) => {
    const { sts } = w;
    if (!sts || sts.replicas < 1) return [];
    const [next, rv] = fresh(w, 'r');
    return [[`scaled by hand to ${sts.replicas - 1}`, { ...next, sts: { ...sts, rv, replicas: sts.replicas - 1 } }]];
  },
  backupBegins: (w) => [['a scheduled backup begins', w.backup ? undefined : { ...w, backup: true }]],
  templateUndone: (w) => {
    const { sts } = w;
    if (!sts || (sts.minEpoch === 0 && !sts.roots)) return [];
    const [next, rv] = fresh(w, 'r');
    const bare = { ...sts, rv, replicas: 1, minEpoch: 0, roots: undefined };
    return [['kubectl replace: 1 replica, no annotation', { ...next, sts: bare }]];
  },
  wrongImage: (w) => {
    const { sts } = w;
    if (!sts || sts.image) return [];
    const [next, rv] = fresh(w, 'r');
    const image = `3.${minorOf(sts.version)}.99`;
    return [['kubectl set image: another patch', { ...next, sts: { ...sts, rv, image } }]];
  },
  brokenTemplate: (w) => {
    const { sts } = w;
    if (!sts || sts.broken) return [];
    const [next, rv] = fresh(w, 'r');
    return [['a template is applied whose pods do not start', { ...next, sts: { ...sts, rv, broken: true } }]];
  },
  noEviction: (w) => [
    ['the pod disruption budget has no room', w.noEviction ? undefined : { ...w, noEviction: true as const }],
  ],
};

/** The next comparison is due. */
const unseen = (world: World): World => ({ ...world, memory: { ...world.memory, hash: undefined } });

const changed = (before: World, after: World): World | undefined => (after === before ? undefined : after);

export function volumeLost(world: World, i: number): World {
  const volume = world.volumes[i]!;
  const shelf = volume.wal ? { ordinal: i, volume } : world.shelf;
  const bare = withVolume(withClaim(withPod(world, i, null), i, null), i, null);
  return settled({ ...bare, shelf });
}

/** Empties the data directory; the rest of the volume stays. */
function emptied(world: World, i: number): World {
  return settled(withVolume(withPod(world, i, null), i, { ...world.volumes[i]!, wal: undefined }));
}

function setBack(world: World, i: number): World | undefined {
  const volume = world.volumes[i];
  const { wal } = volume ?? {};
  const member = world.record?.doc.members[i];
  if (!volume || !wal || member?.memberId !== wal.member || world.pods[i]?.cut) return undefined;
  const cluster = world.clusters.find((c) => c.id === wal.cluster)!;
  if (member.reached?.index !== raftIndex(cluster, wal.at)) return undefined;
  return settled(withVolume(withPod(world, i, null), i, { ...volume, wal: { ...wal, at: wal.at - 1 } }));
}

/** The pod is force-deleted and recreated; it waits for a volume that no longer exists. */
function burnt(world: World, i: number): World {
  const [next, uid] = fresh(world, 'u');
  const dead = withClaim(next, i, { ...world.claims[i]!, dead: true });
  const pod = { ...world.pods[i]!, uid, state: 'new' as const, cut: undefined, terminating: undefined };
  return settled(withVolume(withPod(dead, i, pod), i, {}));
}

/** The new volume was created on another member's node, before it got a permit. */
export function nodeTaken(world: World, i: number, j: number): World | undefined {
  const [pod, claim, volume] = [world.pods[i], world.claims[i], world.volumes[i]];
  const waits = pod?.state === 'wait' && !pod.cut && !pod.terminating && !volume?.wal;
  const isNew = claim && !claim.clusterUid && claim.on === undefined && !claim.deleting;
  const isPermitted = world.record?.doc.permits[i]?.volumeId === volume?.volumeId;
  if (i === j || !waits || !isNew || isPermitted || world.late || !world.volumes[j]?.wal || !world.pods[j])
    return undefined;
  return podGone(withClaim(world, i, { ...claim, on: j }), j);
}

function reattached(world: World): World | undefined {
  const { ordinal, volume } = world.shelf!;
  if (world.pods[ordinal]?.cut || !world.claims[ordinal]) return undefined;
  return settled({ ...withVolume(withPod(world, ordinal, null), ordinal, volume), shelf: undefined });
}

/** A node comes back with its pods; their gates run again. */
function heals(world: World): Step[] {
  const starting = world.jobs
    .filter((job) => job.stuck)
    .map((job) => ({
      text: `the pod of Job ${job.kind} finds a node`,
      next: withJob(world, job, { ...job, stuck: undefined }),
    }));
  const nodes = world.pods.flatMap((pod, i) => {
    if (!pod?.cut) return [];
    const text = `the node of ${i} is on again`;
    // A pod that never started may have lost its claim meanwhile.
    if (pod.state === 'new') return [{ text, next: withPod(world, i, { ...pod, cut: undefined }) }];
    const back = withPod(world, i, { ...pod, cut: undefined, state: 'wait' });
    return [{ text, next: look(back, i, true) }];
  });
  return [...starting, ...nodes, ...repairs(world)];
}

/** Repairs by people, or because another pod is ready again. */
function repairs(world: World): Step[] {
  const found: Step[] = [];
  const { sts, memory } = world;
  if (sts?.image || sts?.broken) {
    const [next, rv] = fresh(world, 'r');
    const repaired = { ...sts, rv, image: undefined, broken: undefined };
    found.push({ text: 'the manifests are applied again', next: { ...next, sts: repaired } });
  }
  if (world.noEviction) {
    const next = { ...world, noEviction: undefined, memory: { ...memory, refused: undefined } };
    found.push({ text: 'the pod disruption budget has room again', next });
  }
  return found;
}

export function edits(world: World, offered: readonly Edit[]): Step[] {
  if (world.budget.edits <= 0 || !world.spec) return [];
  const found: Step[] = [];
  for (const edit of offered) {
    const change = edit.apply(world.spec, world);
    if (!change) continue;
    const [next, rv] = fresh({ ...world, ...change }, 'r');
    const spec = next.spec && { ...next.spec, rv };
    found.push({ text: edit.text, next: spent({ ...next, spec }, 'edits') });
  }
  return found;
}

export function writes(world: World): Step[] {
  const next = world.budget.writes > 0 ? write(world) : undefined;
  return next ? [{ text: 'a client’s write is acknowledged', next: spent(next, 'writes') }] : [];
}

export const resize = (size: number): Edit => ({
  text: `size is set to ${size}`,
  apply: (spec) => (spec.size === size ? undefined : { spec: { ...spec, size } }),
});

export const setVersion = (version: string): Edit => ({
  text: `version is set to ${version}`,
  apply: (spec, world) =>
    spec.version === version || !world.sts
      ? undefined
      : { spec: { ...spec, version }, sts: { ...world.sts, version, image: undefined } },
});

export const changeTemplate: Edit = {
  text: 'the pod template is changed',
  apply: (_, world) => world.sts && { sts: { ...world.sts, change: world.sts.change + 1 } },
};

export const replaceRoots: Edit = {
  text: 'every ca.crt holds the next roots',
  apply: (_, world) => (world.roots ? undefined : { roots: 'next' }),
};

/** The manifests are applied with another tls; undefined: `EtcdTls.none()`. */
export const setTls = (tls: Spec['tls'], acceptPlaintext?: 'long'): Edit => ({
  text: `tls is ${tls ?? 'off'}${acceptPlaintext ? ', and clients may use http for long' : ''}`,
  apply: (spec, world) =>
    !world.sts || (spec.tls === tls && spec.acceptPlaintext === acceptPlaintext)
      ? undefined
      : {
          spec: { ...spec, tls, acceptPlaintext },
          sts: { ...world.sts, tls: tls ? true : undefined, image: undefined, broken: undefined },
        },
});

/** The StatefulSet is applied, the EtcdCluster is not. */
export const setTemplateTls = (tls: true | undefined): Edit => ({
  text: `the template ${tls ? 'gets' : 'loses'} its certificates, the EtcdCluster has its tls`,
  apply: (_, world) => (world.sts && world.sts.tls !== tls ? { sts: { ...world.sts, tls } } : undefined),
});

export const deleteUsers: Edit = {
  text: 'the EtcdUsers are deleted',
  apply: (_, world) => (world.users ? { users: undefined } : undefined),
};

export const enableAuth: Edit = {
  text: 'etcdctl auth enable',
  apply: (_, world) => (world.users ? undefined : { users: true }),
};

export const pause: Edit = {
  text: 'paused is switched',
  apply: (spec) => ({ spec: { ...spec, paused: spec.paused ? undefined : true } }),
};

/** Names the member that is at this ordinal now. */
export const force = (ordinal: number, discardVolume: boolean): Edit => ({
  text: `replace.force for ${ordinal}${discardVolume ? ', discard its volume' : ''}`,
  apply: (spec, world) => {
    const memberId = world.record?.doc.members[ordinal]?.memberId;
    if (!memberId || spec.force.some((f) => f.memberId === memberId)) return undefined;
    return { spec: { ...spec, force: [{ ordinal, memberId, discardVolume }] } };
  },
});

function recordLost(world: World, doc: RecordDoc): Possible {
  const lost = { ...world, record: undefined };
  const known = ['the record is deleted', { ...lost, read: readIn(doc) }] as const;
  if (doc.restores.length === 0) return [[...known]];
  return [[...known], ['the record is deleted, of which no agent has read the last restores', lost]];
}

/** Made again under its name or with its content, it is still the one of before. */
const later = ({ record }: World, name: string, hash: string): { later?: true } => {
  const isBorn = record?.doc.restores.some(({ id }) => isOrigin(id));
  const isKnown = record?.doc.olderRestores?.some(({ id, specHash }) => id === name || specHash === hash);
  return isBorn && !isKnown ? { later: true } : {};
};

/** `writes`: number of writes in the snapshot. */
export const restore = (
  name: string,
  writes: number,
  more: { bad?: true; safetyBackup?: true; ignore?: true } = {},
): Edit => ({
  text: `EtcdRestore ${name} is made${more.bad ? ', of a bad snapshot' : ''}`,
  apply: (_, world) => {
    if (world.restores.some((r) => r.name === name)) return undefined;
    const snapshot = { id: `snapshot-of-${name}`, writes, bad: more.bad, foreign: true as const };
    const made = {
      name,
      uid: `y#${world.seq}`,
      hash: name,
      snapshot,
      safetyBackup: more.safetyBackup === true,
      ignoreUnreachablePods: more.ignore === true,
      ...later(world, name, name),
    };
    const store = world.store.some((s) => s.id === snapshot.id) ? world.store : [...world.store, snapshot];
    return { seq: world.seq + 1, store, restores: [...world.restores, made] };
  },
});

/** In Git: the old name is pruned, and the new one is created. */
export const renameRestore = (from: string, to: string): Edit => ({
  text: `EtcdRestore ${from} becomes ${to}`,
  apply: (_, world) => {
    const old = world.restores.find((r) => r.name === from);
    if (!old || world.restores.some((r) => r.name === to)) return undefined;
    const { phase: _phase, ...rest } = old;
    const made = { ...rest, name: to, uid: `y#${world.seq}`, ...later(world, to, old.hash) };
    return { seq: world.seq + 1, restores: world.restores.map((r) => (r === old ? made : r)) };
  },
});

/** Its spec cannot be changed, so it is deleted and created again. */
export const correctRestore = (name: string, writes: number): Edit => ({
  text: `EtcdRestore ${name} is made again, with another spec`,
  apply: (_, world) => {
    const old = world.restores.find((r) => r.name === name);
    const hash = `${name}, corrected`;
    if (!old || old.hash === hash) return undefined;
    const { phase: _phase, ...rest } = old;
    const snapshot = { id: `snapshot-of-${hash}`, writes, foreign: true as const };
    const made = { ...rest, uid: `y#${world.seq}`, hash, snapshot, ...later(world, name, hash) };
    const restores = world.restores.map((r) => (r === old ? made : r));
    return { seq: world.seq + 1, store: [...world.store, snapshot], restores };
  },
});

export const unrestore = (name: string): Edit => ({
  text: `EtcdRestore ${name} is deleted`,
  apply: (_, world) =>
    world.restores.some((r) => r.name === name)
      ? { restores: world.restores.filter((r) => r.name !== name) }
      : undefined,
});

export const recover = (id: string, acceptDataLoss: boolean, survivor?: number): Edit => ({
  text: `recovery ${id} is requested${acceptDataLoss ? '' : ' without the acknowledgement'}`,
  apply: (spec) =>
    spec.recovery?.id === id ? undefined : { spec: { ...spec, recovery: { id, acceptDataLoss, survivor } } },
});

export const remove: Edit = {
  text: 'the EtcdCluster is deleted',
  apply: (spec) => (spec.deleting ? undefined : { spec: spec.finalizer ? { ...spec, deleting: true } : undefined }),
};

/** Another finalizer keeps the resource, too: `kubectl delete --cascade=foreground`. */
export const removeInForeground: Edit = {
  text: 'the EtcdCluster is deleted in the foreground',
  apply: (spec) => (spec.deleting ? undefined : { spec: { ...spec, deleting: true, foreground: true } }),
};

/** An origin cannot be changed, so the EtcdCluster is deleted and created; its record stays. */
export const madeAgainFrom = (writes: number): Edit => ({
  text: 'the EtcdCluster is made again, with another origin',
  apply: (spec) =>
    spec.uid === 'again'
      ? undefined
      : { spec: { ...spec, uid: 'again', origin: { id: 'snapshot-of-another', writes } } },
});

/** The finalizer is removed by hand, and the manifests are applied again. */
export const madeAgain: Edit = {
  text: 'the EtcdCluster is made again',
  apply: (spec) =>
    spec.deleting ? { spec: { ...spec, deleting: undefined, foreground: undefined, finalizer: undefined } } : undefined,
};

export const skipFinalBackup: Edit = {
  text: 'the final backup is skipped',
  apply: (spec) =>
    spec.deleting && spec.finalBackup && !spec.skipFinalBackup
      ? { spec: { ...spec, skipFinalBackup: true } }
      : undefined,
};

export const reconcilerGoes: Edit = {
  text: 'the reconciler’s Deployment is being deleted',
  apply: (_, world) => (world.going ? undefined : { going: true }),
};

export const policyRetain: Edit = {
  text: 'onDelete is set to Retain, no final backup',
  apply: (spec) =>
    spec.onDelete || spec.finalBackup ? { spec: { ...spec, onDelete: undefined, finalBackup: undefined } } : undefined,
};

export const setSpecVersion = (version: string): Edit => ({
  text: `the EtcdCluster’s version is set to ${version}, the template’s is not`,
  apply: (spec) => (spec.version === version ? undefined : { spec: { ...spec, version } }),
});

export const setTemplateVersion = (version: string): Edit => ({
  text: `the template’s version is set to ${version}, the EtcdCluster’s is not`,
  apply: (_, world) => (world.sts && world.sts.version !== version ? { sts: { ...world.sts, version } } : undefined),
});

/** `ago`: ms between the time that the request names and now. */
export const askDefragment = (ago: number, ordinal?: number): Edit => ({
  text: `a defragmentation is asked for${ordinal === undefined ? '' : ` of ${ordinal}`}, ${ago} ms ago`,
  apply: (spec) => asked(spec, { defragment: { at: timeOf(ago), ...(ordinal !== undefined && { ordinal }) } }),
});

export const askLeader = (ago: number, ordinal: number): Edit => ({
  text: `${ordinal} is asked to lead, ${ago} ms ago`,
  apply: (spec) => asked(spec, { moveLeader: { at: timeOf(ago), ordinal } }),
});

const timeOf = (ago: number): string => new Date(NOW - ago).toISOString();

function asked(spec: Spec, request: NonNullable<Spec['maintenance']>): Partial<World> | undefined {
  const maintenance = { ...spec.maintenance, ...request };
  const isSame = JSON.stringify(maintenance) === JSON.stringify(spec.maintenance);
  return isSame ? undefined : { spec: { ...spec, maintenance } };
}
