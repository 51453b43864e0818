import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../../src/controllers/port/observed.ts';
import type { JobObject } from '../local/jobs/job-object.ts';
import { JobController, LocalJobs } from '../local/jobs/jobs.ts';
import { FileStore } from '../local/store.ts';
import { program } from '../support/program.ts';

let dir: string;
let store: FileStore;
let jobs: LocalJobs;
let controller: JobController;
let ticking: NodeJS.Timeout;

/** An agent that always does this, for any command. */
async function agent(...lines: string[]): Promise<void> {
  controller = new JobController({
    store,
    dir,
    name: 'orders',
    namespace: 'default',
    endpoints: () => ['http://127.0.0.1:1'],
    endpointOf: () => 'http://127.0.0.1:1',
    agent: ['/bin/sh', await program(join(dir, 'agent'), ...lines)],
  });
  ticking = setInterval(() => controller.tick(), 20);
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'jobs-'));
  mkdirSync(join(dir, 'logs'));
  store = new FileStore(join(dir, 'api'));
  jobs = new LocalJobs(store);
});
afterEach(async () => {
  clearInterval(ticking);
  await controller.stop();
  rmSync(dir, { recursive: true });
});

const create = () => jobs.create({ kind: 'safety', op: 'op-1', schedule: 'nightly' });

async function until(is: (job: Job | undefined) => boolean): Promise<Job | undefined> {
  while (true) {
    const [job] = await jobs.jobs();
    if (is(job)) return job;
    await sleep(20);
  }
}

const status = () => store.read<JobObject>('jobs/safety')?.status;
const result = (text: object) => `echo '${JSON.stringify(text)}' > "$ETCD_AGENT_TERMINATION_LOG"`;

test('a successful Job is a backup, known from its termination message', async () => {
  await agent(result({ snapshot: { id: 'the-id', revision: 7, sha256: 'sum', more: 1 } }), 'exit 0');
  await create();
  const job = await until((found) => found?.state !== 'Running');
  expect(job).toMatchObject({
    kind: 'safety',
    op: 'op-1',
    state: 'Succeeded',
    backup: { id: 'the-id', revision: 7, sha256: 'sum' },
  });
  await expect(create()).rejects.toThrow('exists');
});

test('a permanent error fails at once, with its message', async () => {
  await agent(result({ error: 'it is damaged' }), 'exit 30');
  await create();
  expect(await until((found) => found?.state !== 'Running')).toMatchObject({
    state: 'Failed',
    message: 'it is damaged',
  });
  expect(status()?.failures).toBe(1);
});

test('a temporary error is retried, up to backoffLimit', async () => {
  await agent('exit 10');
  await create();
  expect(await until((found) => found?.state !== 'Running')).toMatchObject({ state: 'Failed' });
  expect(status()?.failures).toBe(4);
});

test('one that is killed is created again; SIGTERM does not count as a failure', async () => {
  await agent('trap "exit 143" TERM', 'sleep 60 & wait');
  await create();
  const pids = new Set<number>();
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGTERM'] as const) {
    await until(() => status()?.pid !== undefined && !pids.has(status()!.pid!));
    pids.add(status()!.pid!);
    process.kill(status()!.pid!, signal);
  }
  await until(() => status()?.pid !== undefined && !pids.has(status()!.pid!));
  expect(status()).toMatchObject({ state: 'Running', failures: 1 });
});

test('one that is deleted ends, and leaves nothing', async () => {
  await agent('sleep 60');
  await create();
  const job = await until(() => status()?.pid !== undefined);
  const { pid } = status()!;
  await expect(jobs.remove('safety', 'another')).rejects.toThrow('another');
  await jobs.remove('safety', job!.uid);
  expect(await until((found) => found === undefined || found.deleting)).toMatchObject({ deleting: true });
  await until((found) => found === undefined);
  expect(() => process.kill(pid!, 0)).toThrow('ESRCH');
  expect(readdirSync(join(dir, 'jobs'))).toEqual([]);
});

test('a request that cannot be carried out fails with the reason', async () => {
  await agent('exit 0');
  await jobs.create({ kind: 'safety', op: 'op-1' });
  expect(await until((found) => found?.state !== 'Running')).toMatchObject({
    state: 'Failed',
    message: expect.stringContaining('no backup schedule'),
  });
});
