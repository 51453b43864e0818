import { idOf, World } from '../../port/observed.fixture.ts';

describe('shrink', () => {
  test('removes the highest, then its pod', () => {
    const world = new World(5).spec({ size: 3 });
    expect(world.written?.op).toMatchObject({ kind: 'Remove', memberId: idOf(4), why: 'Shrink' });
    world.commit().removed(4).commit();
    world.o.agents = {};
    world.pods((pods) => pods.filter(({ ordinal }) => ordinal < 4));
    expect(world.compared().rule).toBe('LowerReplicas');
    expect(world.effect).toEqual({ kind: 'ScaleTo', replicas: 4, basedOn: 'sts-rv' });
  });

  test('never onto a broken set', () => {
    expect(new World(5).spec({ size: 3 }).down(1).effect).toBeUndefined();
    expect(new World(5).spec({ size: 3 }).down(4).rule).toBe('Shrink');
  });

  test('claims go last, by UID, when that is asked for', () => {
    const shrunk = (onShrink: 'Retain' | 'Delete') => {
      const world = new World(5).spec({ size: 3, onShrink }).removed(4).removed(3).sts({ replicas: 3 });
      const { 3: _, 4: __, ...members } = world.record.members;
      return world
        .doc({ members })
        .pods((pods) => pods.filter(({ ordinal }) => ordinal < 3))
        .compared();
    };
    expect(shrunk('Retain').effect).toBeUndefined();
    const world = shrunk('Delete').commit();
    expect(world.effect).toEqual({ kind: 'DeleteClaim', ordinal: 3, uid: 'claim-3' });
  });

  test.each([
    [0, 'size 0 is not valid; use 1 to 7'],
    [8, 'size 8 is not valid; use 1 to 7'],
    [2, 'size 2: an even size'],
  ])('size %d is refused, and changes nothing', (size, message) => {
    const world = new World(3).spec({ size });
    expect(world.effect).toBeUndefined();
    expect(world.reason('Accepted')).toBe('SizeRefused');
    expect(world.message('Accepted')).toContain(message);
  });

  test('an even size is done when it is meant', () => {
    expect(new World(3).spec({ size: 2, allowEvenSize: true }).rule).toBe('Shrink');
  });
});

describe('replicas that another client changed', () => {
  test('too few: raised at once, also without a quorum', () => {
    expect(new World(3).sts({ replicas: 1 }).noQuorum().effect).toEqual({
      kind: 'ScaleTo',
      replicas: 3,
      basedOn: 'sts-rv',
      setBackFrom: 1,
    });
  });

  test('too few, but the image is of another version: no pod is made of it, and no claim of a member goes', () => {
    const world = new World(3).sts({ replicas: 1, imageVersion: '3.7.3' });
    expect(world.effect).toBeUndefined();
    expect(world.reason('Accepted')).toBe('TemplateMismatch');
    const shrunk = new World(3).spec({ size: 1, onShrink: 'Delete' }).sts({ replicas: 2, imageVersion: '3.7.3' });
    shrunk.down(1).pods((pods) => pods.filter(({ ordinal }) => ordinal < 2));
    expect(shrunk.rule).not.toBe('PruneClaim');
  });

  test('too many: lowered when nothing else is to do', () => {
    expect(new World(3).sts({ replicas: 4 }).effect).toMatchObject({ kind: 'ScaleTo', replicas: 3 });
  });
});

test('the epoch of the template is put back', () => {
  expect(new World(3).doc({ minEpoch: 1 }).effect).toEqual({
    kind: 'AnnotateEpoch',
    epoch: 1,
    basedOn: 'sts-rv',
  });
});

test('paused: nothing', () => {
  expect(new World(3).volumeLost(1).spec({ paused: true }).plan()).toMatchObject({ hold: 'Paused' });
});
