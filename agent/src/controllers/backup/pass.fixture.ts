import { ApiClient } from '../../kube/api-client.ts';
import { Troubles } from '../../kube/event-reader.ts';
import { Events } from '../../kube/events.ts';
import type { JobObject } from '../../kube/objects.ts';
import { Paths } from '../../kube/paths.ts';
import { FakeApi } from '../kubernetes/fake-api.fixture.ts';
import type { BackupStatus, EtcdBackupObject } from '../objects/backup-object.ts';
import { backupPass } from './pass.ts';

export const paths = new Paths('shop');
export const store = { s3: { bucket: 'backups', prefix: 'eu' }, retention: { last: 3 } };
export const created = '2026-11-22T02:00:00Z';

export let api: FakeApi;
export let client: ApiClient;
export const warnings: string[] = [];

/** Starts a fake API server for each test. */
export function useFakeApi(): void {
  beforeEach(async () => {
    api = await FakeApi.listen();
    client = new ApiClient(api.access, 2_000);
    warnings.length = 0;
  });
  afterEach(async () => {
    client.close();
    await api[Symbol.asyncDispose]();
  });
}

export const log = { warn: (text: string) => void warnings.push(text), debug() {} } as never;

export function cluster(spec: object = {}, available = { status: 'True', reason: 'Serving' }): void {
  const schedules = [{ name: 'nightly', stores: [store], timeout: '10m' }];
  api.put(paths.of('etcdclusters', 'orders'), {
    spec: { size: 3, version: '3.6.16', backup: { schedules }, ...spec },
    status: { conditions: [{ type: 'Available', message: '', lastTransitionTime: created, ...available }] },
  });
  const gate = { name: 'gate', image: 'registry/member:1', args: ['--cluster-domain=example.org'] };
  const sidecar = { name: 'agent', image: 'registry/agent:1' };
  const template = { spec: { initContainers: [gate, sidecar], containers: [], nodeSelector: { disk: 'fast' } } };
  api.put(paths.of('statefulsets', 'orders'), { spec: { template } });
}

export function ask(
  name: string,
  spec: object = { clusterName: 'orders', schedule: 'nightly' },
  metadata: object = {},
  status?: object,
): void {
  api.put(paths.of('etcdbackups', name), {
    metadata: { creationTimestamp: created, generation: 1, ...metadata },
    spec,
    ...(status && { status }),
  } as never);
}

export const found = (name: string) => api.object<EtcdBackupObject>(paths.of('etcdbackups', name))!;
export const statusOf = (name: string): Partial<BackupStatus> => found(name)?.status ?? {};

export const none = { of: async () => [] };

/** One pass of a reconciler that has just started. */
export function pass(name: string, more: { at?: (point: string) => void; deployment?: string; fails?: boolean } = {}) {
  const events = new Events(client, paths, 'me', log);
  const troubles = new Troubles({ client, paths, log }, { patience: 0, again: 0, gap: 0 });
  const options = { client, paths, events, troubles, log, at: () => {}, ...more };
  return backupPass(name, found(name)?.metadata.uid ?? 'gone', options);
}

/** Runs passes until there is nothing left to do for now. */
export async function settle(name: string, at: (point: string) => void = () => {}): Promise<void> {
  for (let n = 0; n < 20; n++) if (!(await pass(name, { at })).acted) return;
  throw new Error(`${name} does not come to rest: ${JSON.stringify(statusOf(name))}`);
}

export const objects = <T>(resource: 'jobs' | 'events' | 'pods'): T[] => api.objects<T>(paths.of(resource));
export const jobs = () => objects<JobObject>('jobs');
export const reasons = () => objects<{ reason: string }>('events').map(({ reason }) => reason);

/** Plays the Job controller and the agent. */
export function end(type: 'Complete' | 'Failed', exitCode: number, result: object): void {
  const [job] = jobs();
  const { name, uid } = job!.metadata;
  api.put(paths.of('pods', `${name}-x`), {
    metadata: { labels: { 'batch.kubernetes.io/job-name': name }, ownerReferences: [{ kind: 'Job', name, uid }] },
    status: {
      phase: type === 'Complete' ? 'Succeeded' : 'Failed',
      containerStatuses: [{ name: 'backup', state: { terminated: { exitCode, message: JSON.stringify(result) } } }],
    },
  });
  const conditions = [{ type, status: 'True', lastTransitionTime: created }];
  api.put(paths.of('jobs', name), { ...job, status: { conditions } });
}
const snapshot = { id: 'the-id', revision: 7, sizeBytes: 20, sha256: 'ab' };
export const stored = { snapshot, stores: [{ store: 's3://backups', key: 'orders/the-id.db', verified: 'read' }] };
// biome-ignore lint/suspicious/noExplicitAny: a manifest
export const specOf = (job: JobObject | undefined): any => (job as unknown as { spec: object }).spec;
export const argsOf = (job: JobObject | undefined): string[] => specOf(job).template.spec.containers[0].args;
