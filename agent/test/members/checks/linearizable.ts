import type { RegisterOperation } from './history.ts';

/** A value, undefined where there is no key yet, or ANY: a restore may have brought back whatever there was. */
export const ANY = Symbol('any');
type State = string | undefined | typeof ANY;

/**
 * Searches for an order of the operations on one register that fits all answers: it respects the time spans of the
 * operations, and each operation reads the value of the previous one. Returns the first answer that fits no order, or
 * undefined.
 */
export function contradiction(
  operations: readonly RegisterOperation[],
  initial: State = undefined,
): RegisterOperation | undefined {
  const pending = new Set<RegisterOperation>();
  let worlds: World[] = [{ state: initial, done: new Set() }];
  for (const { operation, begins } of inOrder(settled(operations))) {
    if (begins) {
      pending.add(operation);
      continue;
    }
    worlds = completed(worlds, operation, pending);
    if (worlds.length === 0) return operation;
    pending.delete(operation);
  }
  return undefined;
}

/** One possible history so far: the value, and the pending operations that have already taken place. */
interface World {
  readonly state: State;
  readonly done: ReadonlySet<RegisterOperation>;
}

/** Returns every history in which the operation took place, possibly after other pending operations. */
function completed(worlds: readonly World[], operation: RegisterOperation, pending: ReadonlySet<RegisterOperation>) {
  const numbers = new Map([...pending].map((one, i) => [one, i]));
  const nameOf = ({ state, done }: World) =>
    `${[...done].map((one) => numbers.get(one)).sort()} ${typeof state === 'symbol' ? '' : JSON.stringify([state])}`;
  const seen = new Set<string>();
  const todo: World[] = [];
  const found: World[] = [];
  const visit = (world: World) => {
    const name = nameOf(world);
    if (seen.has(name)) return;
    seen.add(name);
    if (!world.done.has(operation)) todo.push(world);
    else found.push({ state: world.state, done: new Set([...world.done].filter((one) => one !== operation)) });
  };
  worlds.forEach(visit);
  for (let world = todo.pop(); world; world = todo.pop()) {
    for (const next of pending) {
      if (world.done.has(next) || !fits(world.state, next)) continue;
      visit({ state: next.value, done: new Set([...world.done, next]) });
    }
  }
  return found;
}

function fits(state: State, operation: RegisterOperation): boolean {
  if (state === ANY || operation.kind === 'write') return true;
  return state === (operation.kind === 'swap' ? operation.from : operation.value);
}

/**
 * Values are written once, so an unknown write took place if its value was read: before the end of the first such read.
 * If nobody read it, leaving it out contradicts no answer.
 */
function settled(operations: readonly RegisterOperation[]): RegisterOperation[] {
  const firstSeen = new Map<string, number>();
  for (const operation of operations) {
    const value = operation.kind === 'swap' ? operation.from : operation.kind === 'read' ? operation.value : undefined;
    if (operation.outcome !== 'ok' || value === undefined) continue;
    firstSeen.set(value, Math.min(operation.end, firstSeen.get(value) ?? Number.POSITIVE_INFINITY));
  }
  // An unknown swap that was seen has seen its own `from`.
  for (let changed = true; changed; ) {
    changed = false;
    for (const operation of operations) {
      if (operation.outcome !== 'unknown' || operation.kind !== 'swap') continue;
      const seen = firstSeen.get(operation.value);
      if (seen === undefined || seen >= (firstSeen.get(operation.from) ?? Number.POSITIVE_INFINITY)) continue;
      firstSeen.set(operation.from, seen);
      changed = true;
    }
  }
  return operations.flatMap((operation) => {
    if (operation.outcome === 'ok') return [operation];
    if (operation.outcome === 'failed' || operation.kind === 'read') return [];
    const seen = firstSeen.get(operation.value);
    return seen === undefined ? [] : [{ ...operation, end: Math.max(seen, operation.start) }];
  });
}

/** Begins and ends by time. At the same time, begins come first. */
function inOrder(operations: readonly RegisterOperation[]) {
  return operations
    .flatMap((operation) => [
      { at: operation.start, begins: true, operation },
      { at: operation.end, begins: false, operation },
    ])
    .sort((a, b) => a.at - b.at || Number(b.begins) - Number(a.begins));
}

/** Checks every register of a history, separately for each cluster: a restore reverts everything after its snapshot. */
export function contradictions(operations: readonly RegisterOperation[], clusterIds: readonly string[]): string[] {
  return [...new Set(operations.map(({ key }) => key))].flatMap((key) => {
    const ofKey = operations.filter((operation) => operation.key === key);
    const seenBefore = new Set<string | undefined>();
    return clusterIds.flatMap((clusterId, i) => {
      const era = eraOf(ofKey, clusterId, seenBefore);
      for (const { value, outcome } of era) if (outcome === 'ok') seenBefore.add(value);
      const wrong = contradiction(era, i === 0 ? undefined : ANY);
      return wrong ? [explained(key, clusterId, wrong, ofKey)] : [];
    });
  });
}

/** Answers of this cluster, and the unknown operations that no earlier cluster has shown. */
function eraOf(operations: readonly RegisterOperation[], clusterId: string, seenBefore: Set<string | undefined>) {
  return operations.filter((operation) =>
    operation.outcome === 'ok' ? operation.clusterId === clusterId : !seenBefore.has(operation.value),
  );
}

/** Describes the answer, with the operations around it. */
function explained(
  key: string,
  clusterId: string,
  wrong: RegisterOperation,
  all: readonly RegisterOperation[],
): string {
  const near = all.filter(({ start }) => start <= wrong.end).sort((a, b) => a.end - b.end);
  const before = near.slice(-15).map((operation) => `\n  ${told(operation)}`);
  return `register ${key} of cluster ${clusterId}: ${told(wrong)} fits no order of the operations; the last ones:${before.join('')}`;
}

const told = (operation: RegisterOperation): string =>
  `${operation.outcome} ${operation.kind} of ${operation.kind === 'swap' ? `${operation.from} to ` : ''}${operation.value} by client ${operation.client}, ${operation.start.toFixed(1)} to ${operation.end.toFixed(1)} ms`;
