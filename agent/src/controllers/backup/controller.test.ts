import { setTimeout as sleep } from 'node:timers/promises';
import { Troubles } from '../../kube/event-reader.ts';
import { Events } from '../../kube/events.ts';
import { Queue } from '../../lib/queue.ts';
import { failure } from '../kubernetes/fake-api.fixture.ts';
import { defaultSettings } from '../port/settings.ts';
import { BackupController } from './controller.ts';
import { api, ask, client, cluster, found, jobs, log, paths, settle, statusOf, useFakeApi } from './pass.fixture.ts';

useFakeApi();

test('of two backups whose Jobs a quota refused, one runs when it has room again', async () => {
  cluster();
  api.fault = ({ method }, response, path) => {
    if (method !== 'POST' || !path.endsWith('/jobs')) return false;
    failure(response, 403, 'Forbidden', 'exceeded quota');
    return true;
  };
  ask('older');
  ask('younger', undefined, { creationTimestamp: '2026-11-22T02:00:01Z' });
  await settle('older');
  await settle('younger');
  expect([statusOf('older').reason, statusOf('younger').reason]).toEqual(['JobNotCreated', 'JobNotCreated']);
  api.fault = () => false;
  const quiet = { ...(log as object), info() {}, error() {}, child: () => quiet } as never;
  const queue = new Queue();
  const controller = new BackupController({
    ...{ client, paths, log: quiet, follow: queue.follow },
    events: new Events(client, paths, 'me', log),
    troubles: new Troubles({ client, paths, log }, { patience: 0, again: 0, gap: 0 }),
    settings: { ...defaultSettings, next: 10 },
    clusters: () => [],
    followedBy: async () => undefined,
    jobs: () => [],
    at: async (point) => {
      if (point === 'before CreateBackupJob') await sleep(50);
    },
  });
  controller.lead();
  for (const name of ['older', 'younger']) controller.changed(found(name), false);
  const isTold = () => ['older', 'younger'].some((name) => statusOf(name).reason === 'AnotherRuns');
  for (const until = Date.now() + 1_000; !isTold() && Date.now() < until; ) await sleep(10);
  await queue.stop(1_000);
  expect(jobs()).toHaveLength(1);
});
