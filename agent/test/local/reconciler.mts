import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { flushCompileCache } from 'node:module';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { runCluster } from '../../src/controllers/cluster/loop.ts';
import { EtcdPort } from '../../src/controllers/etcd/etcd-port.ts';
import { createLog } from '../../src/lib/log.ts';
import { Queue } from '../../src/lib/queue.ts';
import { LocalJobs } from './jobs/jobs.ts';
import { rootTlsOf, type WorldFile } from './objects.ts';
import { crashAt, pauseAt } from './pods/crash.ts';
import { clientUrls, LocalPort, type Transports } from './port.ts';
import { FileStore } from './store.ts';

/** The reconciler of one local cluster: `node reconciler.mts DIRECTORY`. */
const dir = process.argv[2]!;
const world: WorldFile = JSON.parse(readFileSync(join(dir, 'world.json'), 'utf8'));
const settings = JSON.parse(readFileSync(join(dir, 'reconciler.json'), 'utf8'));
const store = new FileStore(join(dir, 'api'));

const tls = rootTlsOf(world);
const transports: Transports = new Map();
const etcd = new EtcdPort({
  endpoints: () => clientUrls(store, world, transports),
  tls: async () =>
    tls && {
      ca: await readFile(tls.ca),
      cert: await readFile(tls.client.cert),
      key: await readFile(tls.client.key),
    },
  settings,
});

const [pause, crash] = [pauseAt(dir), crashAt(dir, 'reconciler')];
flushCompileCache();
const queue = new Queue();
const stop = async () => {
  await queue.stop(600_000);
  await etcd.close();
  process.exit(0);
};
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, stop);
runCluster({
  port: new LocalPort(store, world, etcd, new LocalJobs(store), transports),
  settings,
  holder: `${hostname()}-${process.pid}`,
  follow: queue.follow,
  log: createLog(process.stderr),
  at: (point) => {
    pause(point);
    crash(point);
  },
});
