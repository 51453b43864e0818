// The agent beside a member, in the memory of its container, while backups of a large database go through it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runAgent } from '../harness/agent.ts';
import { type Certificates, createCertificates, type KeyPair, mountPair } from '../harness/certificates.ts';
import { enableCertificateAuth } from '../harness/etcd-auth.ts';
import { newestEtcd } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { freePorts } from '../harness/free-ports.ts';
import { imageCommand } from '../harness/image-command.ts';
import { reap, spare } from '../harness/reaper.ts';
import { Cgroup } from './cgroup.ts';
import { fill } from './fill.ts';

const MIB = 1024 * 1024;
const size = process.env.SMOKE === '1' ? 256 : 1024;
/** The limit of the container `agent` in src/cluster/manifests/cluster-containers.ts. */
const memory = 128 * MIB;

let root: string;
let certificates: Certificates;
let etcd: EtcdCluster;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'etcd-agent-memory-'));
  certificates = await createCertificates(join(root, 'certificates'));
  etcd = await EtcdCluster.start({
    dataRoot: root,
    tls: certificates,
    extraArgs: ['--quota-backend-bytes=8589934592'],
  });
});
afterAll(async () => {
  await etcd?.stop();
  await rm(root, { recursive: true, force: true });
});

const mount = (name: string, pair: KeyPair) => mountPair(join(root, name), certificates.ca, pair);

async function start(group: Cgroup, backupPort: number): Promise<ChildProcess> {
  const [peer, metrics, agent] = await freePorts(3);
  const [member] = etcd.members;
  const [server, ofRoot] = [
    await mount('server', certificates.server),
    await mount('root', await certificates.clientNamed('root')),
  ];
  const volume = join(root, 'volume');
  await mkdir(volume);
  await writeFile(join(root, 'settings.json'), '{}');
  const { command, env } = imageCommand();
  const flags = [
    ...['--cluster=orders', `--data-dir=${volume}`, `--settings=${join(root, 'settings.json')}`],
    ...[`--record=file://${join(root, 'record.json')}`, `--listen=127.0.0.1:${agent}`, '--poll=1s'],
    ...[`--peer-tls-dir=${server}`, `--server-tls-dir=${server}`, `--root-tls-dir=${ofRoot}`],
    ...[`--backup-listen=127.0.0.1:${backupPort}`, '--backup-user=orders-backup'],
    ...[`--peer-url=https://127.0.0.1:${peer}`, `--listen-peer-url=https://127.0.0.1:${peer}`],
    ...[`--client-url=${member!.clientUrl}`, `--listen-client-url=${member!.clientUrl}`],
    `--metrics-url=http://127.0.0.1:${metrics}`,
  ];
  const [program, ...rest] = group.enter([...command, 'serve', ...flags]);
  const variables = { POD_NAME: 'orders-0', POD_UID: 'u', POD_IP: '127.0.0.1', ETCD_AGENT_NAMESPACE: 'shop' };
  const child = spawn(program!, rest, {
    env: { ...env, ...variables, PATH: process.env.PATH, ETCD_VERSION: newestEtcd().version },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  reap(child.pid!);
  return child;
}

test(`two backups at once of ${size} MiB through the agent of a member, which has ${memory / MIB} MiB`, async () => {
  await fill(etcd, 0, size);
  await enableCertificateAuth(etcd, { client: 'w/' });
  await using group = await Cgroup.make({ memory });
  const [port] = await freePorts(1);
  const child = await start(group, port!);
  const ended = once(child, 'exit');
  let own = 0;
  const sampler = setInterval(async () => {
    own = Math.max(own, await group.anonymous().catch(() => 0));
  }, 50);
  try {
    await sleep(2_000);
    const pair = await certificates.clientNamed('orders-backup');
    const backup = (store: string) =>
      runAgent([
        ...['backup', `--endpoints=https://127.0.0.1:${port}`, `--store=file://${join(root, store)}`],
        ...['--cluster=orders', '--compression=none', '--output=json'],
        ...[`--cacert=${certificates.ca}`, `--cert=${pair.cert}`, `--key=${pair.key}`],
      ]);
    const results = await Promise.all([backup('a'), backup('b')]);
    for (const { result, stderr } of results) {
      if (!result?.ok) throw new Error(stderr);
      expect(result.snapshot.sizeBytes).toBeGreaterThan(size * MIB);
    }
    expect(child.exitCode).toBeNull();
    const { peak, oomKills } = await group.usage();
    process.stdout.write(`serve: at most ${Math.round(own / MIB)} MiB, ${Math.round(peak / MIB)} with page cache\n`);
    expect(oomKills).toBe(0);
  } finally {
    clearInterval(sampler);
    child.kill('SIGKILL');
    await ended;
    spare(child.pid!);
  }
});
