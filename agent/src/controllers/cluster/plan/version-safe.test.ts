import { known } from '../../../protocol/known.ts';
import { idOf, status, unborn, World } from '../observed.fixture.ts';

const running = (...versions: string[]) => {
  const world = new World(3);
  versions.forEach((version, ordinal) => {
    world.o.status[idOf(ordinal)] = known(status({ version }));
  });
  return world.plan().conditions.find(({ type }) => type === 'VersionSafe');
};

test('the oldest version that runs counts', () => {
  expect(running('3.6.16', '3.6.16', '3.6.16')).toMatchObject({ status: 'True', reason: 'NoAdvisory' });
  expect(running('3.6.16', '3.6.11', '3.6.16')).toMatchObject({
    status: 'False',
    reason: 'KnownVulnerabilities',
    message: expect.stringMatching(/^etcd 3\.6\.11 has known vulnerabilities: .*; use 3\.6\.14 or newer \(known on 20/),
  });
});

test('before a member runs, it is the version of the spec', () => {
  const found = unborn()
    .plan()
    .conditions.find(({ type }) => type === 'VersionSafe');
  expect(found).toMatchObject({ status: 'True', reason: 'NoAdvisory' });
});
