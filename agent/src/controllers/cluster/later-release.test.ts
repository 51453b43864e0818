import type { RecordDoc } from '../../protocol/record.ts';
import { agent, World } from '../port/observed.fixture.ts';

test('what a later release wrote into the record stays in it', () => {
  const world = new World(3, { onDelete: 'Delete' });
  const versions = { ...world.record.versions, later: 2 };
  world.doc({ later: { of: 1 }, versions } as Partial<RecordDoc>);
  Object.assign(world.cluster, { deleting: true, finalizer: true });
  expect(world.commit().record).toMatchObject({ later: { of: 1 }, versions, op: { kind: 'Delete' } });
});

test('further fields of an agent of a later release do no harm', () => {
  const later = { ...agent(1), later: true } as ReturnType<typeof agent>;
  const world = new World(3).agent(1, later);
  expect(world.effect).toBeUndefined();
  expect(world.reason('Ready')).toBe('UpToDate');
});
