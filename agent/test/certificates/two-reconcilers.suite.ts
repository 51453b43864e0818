import { decide, type Write } from '../../src/controllers/certificates/decide.ts';
import type { CertificateFacts, FilledLeaf, Span, WholeAuthority } from '../../src/controllers/certificates/facts.ts';
import { shapeOf } from '../../src/controllers/certificates/read.ts';
import type { MemberReport } from '../../src/controllers/certificates/rotation.ts';
import { begin, day, wanted } from '../../src/controllers/certificates/secrets.fixture.ts';
import type { LeafName } from '../../src/controllers/certificates/wanted.ts';
import { known } from '../../src/protocol/known.ts';

// Two reconcilers decide over one small store, in every order of their reads and writes. Each may crash or change its
// leader at any point, an answer may be lost, and a write may arrive after its sender has moved on. Not covered: the
// content of a certificate (issue.test.ts), reads from a stale cache (ours come from etcd), the authority of the
// clients (the same rules, with one more leaf), and the passing of time.

interface Content {
  /** For a leaf: content of its `ca.crt`. */
  readonly root: number;
  readonly intermediate: number;
  readonly rotation?: string;
  readonly rootRotation?: string;
  /** For an authority: its next root. Its cross certificate has the number of its root. */
  readonly next?: { readonly root: number; readonly intermediate: number };
  readonly revocation?: string;
  /** Of an authority: intermediates that are revoked. */
  readonly revoked?: readonly number[];
  /** Of a leaf: those that the revocation list beside it names. */
  readonly list?: readonly number[];
  /** For a leaf: the roots to which its chain leads, the first one without a cross certificate. */
  readonly chain?: readonly number[];
}

/** The content that a member has mounted, and the root that its etcd has loaded. */
interface Member {
  readonly disk: Content;
  readonly loaded: number;
}

/** A Secret. Its version counts the writes. */
interface Stored {
  readonly version: number;
  readonly content?: Content;
}

const names = ['peers', 'peer'] as const;
type Name = (typeof names)[number];
type Store = Readonly<Record<Name, Stored>>;

/** A planned write. It succeeds only if the version is still this one. */
interface Request {
  readonly name: Name;
  readonly version: number;
  readonly content: Content;
}

/** The memory of one reconciler, which a crash erases. */
interface Decider {
  readonly rotation?: string;
  /** The status before anything was read. */
  readonly isNamed?: boolean;
  readonly rootRotation?: string;
  readonly revocation?: string;
  readonly seen?: Partial<Store>;
  /** The members before the Secrets were read. */
  readonly members?: readonly Member[];
  readonly request?: Request;
}

interface World {
  readonly store: Store;
  readonly deciders: readonly [Decider, Decider];
  /** Writes whose sender no longer waits. */
  readonly late: readonly Request[];
  readonly rotation: string;
  /** The status names the root. Undefined if it never will. */
  readonly isNamed?: boolean;
  /** Writes that replace a root. */
  readonly members?: readonly Member[];
  readonly rootRotation?: string;
  readonly revocation?: string;
  /** Number of ids that were assigned. */
  readonly ids: number;
  /** Faults that may still happen. */
  readonly faults: number;
}

const spec = ({ rotation, rootRotation, revocation }: Omit<Asked, 'isNamed' | 'members'>) =>
  wanted({
    intermediateRotation: rotation,
    ...(rootRotation !== undefined && { rootRotation }),
    ...(revocation !== undefined && { intermediateRevocation: revocation }),
  });
const { shapes } = spec({ rotation: '' });
const span: Span = { notBefore: begin - day, notAfter: begin + 1000 * day };

const authority = (content: Content): WholeAuthority => {
  const { root, intermediate, rotation = '', rootRotation = '', revocation = '', revoked = [], next } = content;
  return {
    kind: 'whole',
    root: { id: `${root}`, ...span, notAfter: begin + 3000 * day },
    intermediate: { id: `${intermediate}`, ...span },
    rotation,
    rootRotation,
    revocation,
    revoked: revoked.map(String),
    ...(next && {
      next: {
        root: { id: `${next.root}`, ...span, notAfter: begin + 3000 * day },
        intermediate: { id: `${next.intermediate}`, ...span },
        cross: `${next.root}`,
      },
    }),
  };
};

const leaf = (
  { root, intermediate, chain = [root], list = [] }: Content,
  name: LeafName,
  issuer: Content | undefined,
): FilledLeaf => ({
  kind: 'filled',
  trusts: [`${root}`],
  certificate: {
    id: idOfLeaf({ intermediate, chain }),
    ...span,
    ...(issuer && { isOfRoot: chain.some((each) => each === issuer.root || each === issuer.next?.root) }),
    issuer: `${intermediate}`,
    ...(chain.length > 1 && { cross: `${chain[0]}` }),
    shape: shapeOf(shapes[name]!),
  },
  hasKey: true,
  ...(name !== 'client' && {
    list: (issuer?.revoked ?? []).every((each) => list.includes(each)) ? ('current' as const) : ('behind' as const),
    listId: idOfList(list),
  }),
});

/** As many digits as are compared. */
const idOfLeaf = ({ intermediate, chain }: Pick<Content, 'intermediate' | 'chain'>): string =>
  `${intermediate}-${chain}`;

const idOfList = (list: readonly number[]): string => `list ${list}`;

function factsOf(
  { peers, peer }: Store,
  { rotation, rootRotation = '', revocation = '', isNamed }: Asked,
): CertificateFacts {
  const others = { root: -1, intermediate: -2, rotation, rootRotation, revocation };
  return {
    peers: peers.content ? authority(peers.content) : { kind: 'empty', ...(isNamed && { lostRoot: 'x' }) },
    peer: peer.content ? leaf(peer.content, 'peer', peers.content) : { kind: 'empty' },
    clients: authority(others),
    server: leaf(others, 'server', others),
    client: leaf(others, 'client', others),
  };
}

const decided = (store: Store, asked: Asked) =>
  decide(factsOf(store, asked), spec(asked), begin, {
    ...(asked.members && { members: known(asked.members.map(reportOf)) }),
  });

type Asked = Pick<World, 'rotation' | 'isNamed' | 'members' | 'rootRotation' | 'revocation'>;

const reportOf = ({ disk, loaded }: Member, ordinal: number): MemberReport => ({
  pod: `orders-${ordinal}`,
  peers: {
    leaf: idOfLeaf({ chain: [disk.root], ...disk }),
    ...{ root: `${disk.root}`, loaded: `${loaded}`, list: idOfList(disk.list ?? []) },
  },
  clients: {},
});

/** Returns the Secret after a write to the one that was read. */
function request(
  { make, of }: Write,
  store: Store,
  { rotation, rootRotation, revocation }: Asked,
  ids: number,
): Request {
  const name = of as Name;
  const present = store.peers.content ?? { root: Number.NaN, intermediate: Number.NaN };
  const { next } = present;
  const before = store.peer.content;
  const asked = rootRotation === undefined ? {} : { rootRotation };
  const revoked = [...(present.revoked ?? []), present.intermediate];
  const isRevoked = revocation !== undefined && revocation !== present.revocation;
  const fresh: Record<Write['make'], Content | undefined> = {
    // This model empties no Secret, and does not know who signed a list.
    restoration: undefined,
    authority: { root: ids, intermediate: ids + 1, rotation, ...asked },
    intermediate: { ...present, intermediate: ids, rotation, ...(isRevoked && { revocation, revoked }) },
    nextRoot: { ...present, ...asked, next: { root: ids, intermediate: ids + 1 } },
    promotion: next && { ...present, ...next, next: undefined },
    leaf: next
      ? {
          root: before?.root === next.root ? next.root : present.root,
          intermediate: next.intermediate,
          chain: [next.root, present.root],
        }
      : {
          root: present.root,
          intermediate: present.intermediate,
          ...(before?.list && { list: before.list }),
        },
    trust: next && before && { ...before, root: next.root },
    list: before && { ...before, list: present.revoked ?? [] },
  };
  return { name, version: store[name].version, content: fresh[make]! };
}

const written = (store: Store, { name, version, content }: Request): Store =>
  store[name].version === version ? { ...store, [name]: { version: version + 1, content } } : store;

/** Returns every world that may follow. */
function* successors(world: World): Generator<World> {
  for (const index of [0, 1] as const) {
    const decider = world.deciders[index];
    const become = (next: Decider, change: Partial<World> = {}): World => {
      const deciders = world.deciders.map((each, i) => (i === index ? next : each)) as unknown as World['deciders'];
      return { ...world, ...change, deciders };
    };
    const { seen, request: sent } = decider;
    if (sent) {
      yield become({}, { store: written(world.store, sent) });
      // The write is lost, or delayed for longer than its sender waits.
      if (world.faults > 0) {
        yield become({}, { faults: world.faults - 1 });
        yield become({}, { faults: world.faults - 1, late: [...world.late, sent] });
      }
      continue;
    }
    if (!seen) {
      const { rotation: now, isNamed = false, members, rootRotation, revocation } = world;
      const asked = {
        ...(rootRotation !== undefined && { rootRotation }),
        ...(revocation !== undefined && { revocation }),
      };
      yield become({ seen: {}, rotation: now, isNamed, ...(members && { members }), ...asked });
      continue;
    }
    // The authority comes first.
    const next = names.find((name) => !(name in seen));
    if (next) yield become({ ...decider, seen: { ...seen, [next]: world.store[next] } });
    else {
      const asked = decider as Asked;
      const { write } = decided(seen as Store, asked);
      // No Secret is ever emptied here.
      if (decider.isNamed && !seen.peers?.content) throw new Error('an authority seems to be lost');
      if (!write) yield become({});
      else {
        const made = request(write, seen as Store, asked, world.ids);
        yield become({ request: made }, { ids: world.ids + 2 });
      }
    }
    if (world.faults > 0) yield become({}, { faults: world.faults - 1 });
  }
  for (const sent of world.late)
    yield { ...world, store: written(world.store, sent), late: world.late.filter((each) => each !== sent) };
  yield* membersGoOn(world);
  if (world.rotation === 'a') yield { ...world, rotation: 'b' };
  // By a reconciler that has seen it.
  if (world.isNamed === false && world.store.peers.content) yield { ...world, isNamed: true };
}

/** The kubelet mounts the current content, and a member restarts for any reason. */
function* membersGoOn({ members = [], ...world }: World): Generator<World> {
  const { content } = world.store.peer;
  for (const [index, { disk, loaded }] of members.entries()) {
    const become = (next: Member): World => ({ ...world, members: members.with(index, next) });
    if (content && content !== disk) yield become({ disk: content, loaded });
    if (loaded !== disk.root) yield become({ disk, loaded: disk.root });
  }
}

/**
 * Returns a member that another one refuses: etcd presents the leaf on its disk, and accepts leaves of the root that it
 * has loaded, unless its list names their intermediate.
 */
function refusal({ members = [] }: World): string | undefined {
  for (const { disk, loaded: own } of members)
    for (const { loaded, disk: other } of members) {
      if (other.list?.includes(disk.intermediate))
        return `a member refuses intermediate ${disk.intermediate} of another`;
      const { chain = [disk.root] } = disk;
      if (!chain.includes(loaded)) return `a leaf of ${chain} meets a member that has loaded ${loaded}, beside ${own}`;
    }
  return undefined;
}

/** Numbers ids in the order of their appearance, so that worlds that differ only in their ids are equal. */
function canonical(world: World): string {
  const order = new Map<number, number>();
  const rename = (id: number) => {
    if (!order.has(id)) order.set(id, order.size);
    return order.get(id);
  };
  const { ids: _, ...rest } = world;
  const named = ['root', 'intermediate', 'loaded'];
  return JSON.stringify(rest, (key, value) => {
    if (['chain', 'revoked', 'list'].includes(key)) return (value as number[]).map(rename);
    return named.includes(key) ? rename(value) : value;
  });
}

/** Changes of the store that must never happen. */
function violation(before: Store, after: Store): string | undefined {
  for (const name of names) {
    const [old, now] = [before[name].content, after[name].content];
    const isNext = now?.root !== undefined && now.root === before.peers.content?.next?.root;
    if (old && old.root !== now?.root && !isNext) return `the root in ${name} was overwritten`;
  }
  const { peers, peer } = after;
  const roots = [peers.content?.root, peers.content?.next?.root];
  const isForeign = peer.content && !roots.includes(peer.content.root);
  return isForeign ? 'a leaf is of another root than its authority' : undefined;
}

/** Returns the world in which an undisturbed reconciler ends. */
function alone(world: World): Store {
  const { store, ids } = world;
  for (let now = store, writes = 0, asked: Asked = world; ; writes++) {
    const { write, problems } = decided(now, asked);
    const content = now.peer.content;
    // Members mount the current content, and restart when the record asks for it.
    const followed = asked.members?.map(() => ({ disk: content!, loaded: content!.root }));
    const isNews = JSON.stringify(followed) !== JSON.stringify(asked.members);
    if (!write && !isNews) {
      expect(problems).toEqual([]);
      return now;
    }
    if (writes > 12) throw new Error(`it never ends: ${JSON.stringify(problems)}`);
    if (write) now = written(now, request(write, now, asked, ids + 2 * writes));
    else asked = { ...asked, ...(followed && { members: followed }) };
  }
}

const nothing: World = {
  store: { peers: { version: 0 }, peer: { version: 0 } },
  deciders: [{}, {}],
  late: [],
  rotation: 'a',
  ids: 0,
  faults: 2,
};

test.each([
  ['a status that never names the root', nothing],
  // With one fault less, to save time.
  ['a status that names it sooner or later', { ...nothing, isNamed: false, faults: 1 }],
])('in every order, with crashes, lost answers and %s, no root is overwritten, and all ends well', (_, first) => {
  explore(first, ({ peers, peer }, world) => {
    const { root, intermediate, rotation } = peers.content!;
    expect(rotation).toBe(world.rotation);
    expect(peer.content).toEqual({ root, intermediate });
  });
});

test('in every order a root is replaced without a member that another one refuses', () => {
  const content = { root: 0, intermediate: 1 };
  const member: Member = { disk: content, loaded: 0 };
  const first: World = {
    ...{ ...nothing, rootRotation: 'r', ids: 2, faults: 0, members: [member, member] },
    store: { peers: { version: 0, content: { ...content, rotation: 'a' } }, peer: { version: 0, content } },
  };
  explore(first, ({ peers, peer }) => {
    const { root, rootRotation, next } = peers.content!;
    expect([root === 0, rootRotation, next]).toEqual([false, 'r', undefined]);
    // A new intermediate, once the root is replaced, does without the cross certificate.
    expect([`${[root, 0]}`, '']).toContain(`${peer.content!.chain ?? []}`);
    expect(peer.content!.root).toBe(root);
  });
});

test('in every order earlier intermediates are revoked without a member that another one refuses', () => {
  const content = { root: 0, intermediate: 1 };
  const member: Member = { disk: content, loaded: 0 };
  const first: World = {
    ...{ ...nothing, rotation: 'b', revocation: 'stolen', ids: 2, faults: 1, members: [member, member] },
    store: { peers: { version: 0, content: { ...content, rotation: 'b' } }, peer: { version: 0, content } },
  };
  explore(first, ({ peers, peer }) => {
    const { intermediate, revocation, revoked } = peers.content!;
    expect([revocation, revoked?.includes(1), revoked?.includes(intermediate)]).toEqual(['stolen', true, false]);
    expect(peer.content).toMatchObject({ intermediate, list: expect.arrayContaining([1]) });
  });
});

function explore(first: World, ended: (store: Store, world: World) => void): void {
  const found = new Set([canonical(first)]);
  const ends = new Set<string>();
  const queue: World[] = [first];
  let steps = 0;
  for (let world = queue.pop(); world; world = queue.pop()) {
    const key = JSON.stringify([world.store, world.rotation, world.isNamed, world.members]);
    if (!ends.has(key)) {
      ends.add(key);
      ended(alone(world), world);
    }
    for (const next of successors(world)) {
      steps++;
      const wrong = violation(world.store, next.store) ?? refusal(next);
      if (wrong) throw new Error(`${wrong}: ${JSON.stringify(world)} then ${JSON.stringify(next)}`);
      const name = canonical(next);
      if (found.has(name)) continue;
      found.add(name);
      queue.push(next);
    }
  }
  expect(found.size).toBeGreaterThan(5_000);
  expect(steps).toBeGreaterThan(found.size);
}
