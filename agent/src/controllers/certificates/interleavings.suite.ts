import { decide, type Write } from './decide.ts';
import type { Facts, FilledLeaf, Span, WholeAuthority } from './facts.ts';
import { shapeOf } from './read.ts';
import { begin, day, wanted } from './secrets.fixture.ts';
import type { LeafName } from './wanted.ts';

// Two reconcilers decide over one small store, in every order of their reads and writes. Each may crash or change its
// leader at any point, an answer may be lost, and a write may arrive after whoever sent it has gone on.
// What this store cannot show: what a certificate really says (issue.test.ts), reads of a cache that lags (ours are of
// etcd), the clients' authority (the same rules, with one leaf more), and time that passes.

interface Content {
  readonly root: number;
  readonly intermediate: number;
  readonly rotation?: string;
}

/** A Secret: the version counts its writes. */
interface Stored {
  readonly version: number;
  readonly content?: Content;
}

const names = ['peers', 'peer'] as const;
type Name = (typeof names)[number];
type Store = Readonly<Record<Name, Stored>>;

/** A write that was decided: it counts only if the version is still this one. */
interface Request {
  readonly name: Name;
  readonly version: number;
  readonly content: Content;
}

/** What one reconciler knows. A crash makes it nothing. */
interface Decider {
  readonly rotation?: string;
  /** What the status said before anything was read. */
  readonly isNamed?: boolean;
  readonly seen?: Partial<Store>;
  readonly request?: Request;
}

interface World {
  readonly store: Store;
  readonly deciders: readonly [Decider, Decider];
  /** Writes whose sender no longer waits. */
  readonly late: readonly Request[];
  readonly rotation: string;
  /** The status names the root. Undefined: it never will. */
  readonly isNamed?: boolean;
  /** Ids that were given away. */
  readonly ids: number;
  /** What may still go wrong. */
  readonly faults: number;
}

const spec = (rotation: string) => wanted({ intermediateRotation: rotation });
const { shapes } = spec('');
const span: Span = { notBefore: begin - day, notAfter: begin + 1000 * day };

const authority = ({ root, intermediate, rotation = '' }: Content): WholeAuthority => ({
  kind: 'whole',
  root: { id: `${root}`, ...span, notAfter: begin + 3000 * day },
  intermediate: { id: `${intermediate}`, ...span },
  rotation,
});

const leaf = ({ root, intermediate }: Content, name: LeafName, issuer: Content | undefined): FilledLeaf => ({
  kind: 'filled',
  trusts: [`${root}`],
  certificate: {
    ...span,
    ...(issuer && { isOfRoot: issuer.root === root }),
    issuer: `${intermediate}`,
    shape: shapeOf(shapes[name]),
  },
  hasKey: true,
});

function factsOf({ peers, peer }: Store, rotation: string, isNamed: boolean): Facts {
  const others = { root: -1, intermediate: -2, rotation };
  return {
    peers: peers.content ? authority(peers.content) : { kind: 'empty', ...(isNamed && { lostRoot: 'x' }) },
    peer: peer.content ? leaf(peer.content, 'peer', peers.content) : { kind: 'empty' },
    clients: authority(others),
    server: leaf(others, 'server', others),
    client: leaf(others, 'client', others),
  };
}

const decided = (store: Store, rotation: string, isNamed = false) =>
  decide(factsOf(store, rotation, isNamed), spec(rotation), begin);

/** What a write makes of what was read. */
function request({ make, of }: Write, store: Store, rotation: string, ids: number): Request {
  const name = of as Name;
  const present = store.peers.content ?? { root: Number.NaN, intermediate: Number.NaN };
  const fresh = {
    authority: { root: ids, intermediate: ids + 1, rotation },
    intermediate: { root: present.root, intermediate: ids, rotation },
    leaf: { root: present.root, intermediate: present.intermediate },
  };
  return { name, version: store[name].version, content: fresh[make] };
}

const written = (store: Store, { name, version, content }: Request): Store =>
  store[name].version === version ? { ...store, [name]: { version: version + 1, content } } : store;

/** Every world that may follow. */
function* successors(world: World): Generator<World> {
  for (const index of [0, 1] as const) {
    const decider = world.deciders[index];
    const become = (next: Decider, change: Partial<World> = {}): World => {
      const deciders = world.deciders.map((each, i) => (i === index ? next : each)) as unknown as World['deciders'];
      return { ...world, ...change, deciders };
    };
    const { seen, request: sent, rotation } = decider;
    if (sent) {
      yield become({}, { store: written(world.store, sent) });
      // Lost on its way, or on its way for longer than anybody waits.
      if (world.faults > 0) {
        yield become({}, { faults: world.faults - 1 });
        yield become({}, { faults: world.faults - 1, late: [...world.late, sent] });
      }
      continue;
    }
    if (!seen) {
      yield become({ seen: {}, rotation: world.rotation, isNamed: world.isNamed ?? false });
      continue;
    }
    // The authority first.
    const next = names.find((name) => !(name in seen));
    if (next) yield become({ ...decider, seen: { ...seen, [next]: world.store[next] } });
    else {
      const { write } = decided(seen as Store, rotation!, decider.isNamed);
      // Nobody empties anything here.
      if (decider.isNamed && !seen.peers?.content) throw new Error('an authority seems to be lost');
      if (!write) yield become({});
      else {
        const made = request(write, seen as Store, rotation!, world.ids);
        yield become({ request: made }, { ids: world.ids + 2 });
      }
    }
    if (world.faults > 0) yield become({}, { faults: world.faults - 1 });
  }
  for (const sent of world.late)
    yield { ...world, store: written(world.store, sent), late: world.late.filter((each) => each !== sent) };
  if (world.rotation === 'a') yield { ...world, rotation: 'b' };
  // By whoever has seen it.
  if (world.isNamed === false && world.store.peers.content) yield { ...world, isNamed: true };
}

/** Ids in the order of their appearance, so that worlds that differ in nothing else are one. */
function canonical(world: World): string {
  const order = new Map<number, number>();
  const rename = (id: number) => {
    if (!order.has(id)) order.set(id, order.size);
    return order.get(id);
  };
  const { ids: _, ...rest } = world;
  return JSON.stringify(rest, (key, value) => (key === 'root' || key === 'intermediate' ? rename(value) : value));
}

/** Changes of the store that must never be. */
function violation(before: Store, after: Store): string | undefined {
  for (const name of names) {
    const [old, now] = [before[name].content, after[name].content];
    if (old && old.root !== now?.root) return `the root in ${name} was overwritten`;
  }
  const { peers, peer } = after;
  const isForeign = peer.content && peer.content.root !== peers.content?.root;
  return isForeign ? 'a leaf is of another root than its authority' : undefined;
}

/** Where one reconciler ends that is left alone. */
function alone({ store, rotation, ids, isNamed }: World): Store {
  for (let now = store, writes = 0; ; writes++) {
    const { write, problems } = decided(now, rotation, isNamed);
    if (!write) {
      expect(problems).toEqual([]);
      return now;
    }
    if (writes > 6) throw new Error('it never ends');
    now = written(now, request(write, now, rotation, ids + 2 * writes));
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
  // With one fault less, for the sake of time.
  ['a status that names it sooner or later', { ...nothing, isNamed: false, faults: 1 }],
])('in every order, with crashes, lost answers and %s, no root is overwritten, and all ends well', (_, first) => {
  const known = new Set([canonical(first)]);
  const ends = new Set<string>();
  const queue: World[] = [first];
  let steps = 0;
  for (let world = queue.pop(); world; world = queue.pop()) {
    const key = JSON.stringify([world.store, world.rotation, world.isNamed]);
    if (!ends.has(key)) {
      ends.add(key);
      const { peers, peer } = alone(world);
      const { root, intermediate, rotation } = peers.content!;
      expect(rotation).toBe(world.rotation);
      expect(peer.content).toEqual({ root, intermediate });
    }
    for (const next of successors(world)) {
      steps++;
      const wrong = violation(world.store, next.store);
      if (wrong) throw new Error(`${wrong}: ${JSON.stringify(world)} then ${JSON.stringify(next.store)}`);
      const name = canonical(next);
      if (known.has(name)) continue;
      known.add(name);
      queue.push(next);
    }
  }
  expect(known.size).toBeGreaterThan(5_000);
  expect(steps).toBeGreaterThan(known.size);
});
