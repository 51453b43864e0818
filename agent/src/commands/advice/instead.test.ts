import { entryOf, silentEntry } from '../../../test/support/entry-of.ts';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import type { Entry } from '../../backup/catalog/catalog.ts';
import { Budget } from '../../lib/limits/budget.ts';
import type { CommandContext } from '../cli/command.ts';
import type { OpenedStore } from '../shared/opened-store.ts';
import { another } from './instead.ts';

const day = 86_400_000;
const now = Date.parse('2026-11-21T00:00:00Z');
const aged = (id: string, age: number): Entry => {
  const manifest = manifestOf(Buffer.from(id), undefined, { id, createdAt: new Date(now - age).toISOString() });
  return entryOf(manifest);
};

const suggested = (entries: readonly Entry[], clock: Date | undefined = new Date(now)) => {
  const store = { url: 'file:///x', now: async () => clock };
  const opened = { cluster: 'orders', store, readAnswering: async () => entries } as unknown as OpenedStore;
  const context = { settings: { text: () => undefined }, budget: new Budget() } as unknown as CommandContext;
  return another(aged('damaged', 0), opened, context);
};

test('the suggestion is only called the newest if every newer snapshot is known', async () => {
  const older = aged('older', 2 * day);
  expect(await suggested([older])).toBe(
    'name another snapshot, for example older, the newest other one that is verified',
  );
  expect(await suggested([older, silentEntry('etcd-snapshot-20261101-000000-aaaaaa')])).toMatch(
    /, the newest other one that is verified$/,
  );
  expect(await suggested([older, silentEntry('etcd-snapshot-20261120-000000-aaaaaa')])).toBe(
    'name another snapshot, for example older, the newest other verified one that the store gives out now',
  );
});

test('a snapshot is in the future by both clocks, that of the store and ours', async () => {
  const ahead = (days: number) => new Date(Date.now() + days * day);
  const entries = [aged('newer', now - ahead(1).getTime()), aged('older', day)];
  for (const theirs of [ahead(0), ahead(-2)]) expect(await suggested(entries, theirs)).toMatch(/for example older,/);
  expect(await suggested(entries, ahead(2))).toMatch(/for example newer,/);
});
