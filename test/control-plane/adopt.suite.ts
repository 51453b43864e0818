import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Compression, Retention } from '../../src';
import { lastLogLine, runAgent, runNow } from '../e2e/support/jobs';
import { kubectl } from '../e2e/support/kubectl';
import { Namespace } from '../e2e/support/namespace';
import { controlPlaneNodes } from '../e2e/support/node-driver';
import { slowTest } from '../e2e/support/settings';
import type { Manifest } from '../synth';
import { onNode } from './nodes';
import { onPlanes } from './settings';
import { StoreServer } from './store-server';
import { controlPlaneBackup } from './synthesis';
import { timed } from './timed';
import { findTools, run } from './tools';

const cluster = 'prod';
const namespaceName = 'etcd-control-plane-adopt';
/** Of the cluster within the store. */
const folder = `${namespaceName}/${cluster}`;
const cronJob = `${cluster}-hourly`;
const restoreDirectory = '/etc/kubernetes/restore';
const hour = 3_600_000;

let namespace: Namespace;
let root: string;
let sshd: StoreServer;
let node: string;
let restorePod: string;
/** In the order in which they were saved. */
let saved: string[];

onPlanes(1)('a directory filled by a script', () => {
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'control-plane-adopt-'));
    [node] = (await controlPlaneNodes()) as [string];
    sshd = await StoreServer.start('sshd');
    namespace = Namespace.named(namespaceName);
    await kubectl(['apply', '--server-side', '-f', '-'], synthesize());
    await namespace.apply([sshd.secret('backup-sftp')]);
    await namespace.ready('daemonset', `${cronJob}-image`);
    await runScript(7);
    saved = await sshd.files(`etcd/${folder}`);
    expect(saved).toEqual(Array(7).fill(expect.stringMatching(/^etcd-snapshot-\d{8}-\d{6}\.db$/)));
  });
  afterAll(async () => {
    await namespace?.delete();
    if (node) {
      const rests = [restoreDirectory, '/etc/kubernetes/etcd-restore-*', '/var/lib/etcd/member.replaced-*'];
      await onNode(node, `rm -rf ${rests.join(' ')}`);
    }
    await sshd?.stop();
    if (root) await rm(root, { recursive: true });
  });

  slowTest('is adopted by the time of the store: the names are eight hours ahead', async () => {
    const dry = await agent('look', 'adopt', '--dry-run');
    expect(dry.snapshots).toHaveLength(7);
    expect(await sshd.files(`etcd/${folder}`)).toEqual(saved);
    const { adopted, snapshots } = await timed('seven files adopted', () => agent('adopt', 'adopt'));
    expect(adopted).toBe(7);
    const byTime = snapshots.toSorted((a: Manifest, b: Manifest) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
    expect(byTime.map(({ key }: Manifest) => key)).toEqual(saved.map((name) => `${folder}/${name}`));
    for (const { key, createdAt, warning } of snapshots) {
      expect(Math.abs(timeInName(key) - Date.parse(createdAt) - 8 * hour)).toBeLessThan(60_000);
      expect(warning).toContain('using the time of the store');
    }
    expect(await agent('again', 'adopt')).toMatchObject({ adopted: 0, failed: 0 });
  });

  slowTest('is pruned to the newest five by the next run, which names its file as the script did', async () => {
    const { succeeded, pods } = await runNow(namespace, cronJob, 'first');
    expect([succeeded, pods]).toEqual([true, [expect.objectContaining({ exitCode: 0 })]]);
    const result = JSON.parse(pods[0]!.terminationMessage);
    expect(result).toMatchObject({ stores: [{ verified: 'read', kept: 5 }] });
    const files = await sshd.files(`etcd/${folder}`);
    const [newest, ...more] = files.filter((name) => name.endsWith('.db') && !saved.includes(name));
    expect(more).toEqual([]);
    expect(newest).toMatch(/^etcd-snapshot-\d{8}-\d{6}\.db$/);
    expect(Math.abs(timeInName(newest!) - Date.parse(result.snapshot.createdAt) - 8 * hour)).toBeLessThan(60_000);
    const kept = [...saved.slice(-4), newest!];
    expect(files).toEqual(kept.flatMap((name) => [name, name.replace(/db$/, 'json')]).sort());
  });

  slowTest('is restored from, by etcd-restore.yaml and no API server', async () => {
    const id = saved[4]!.replace(/\.db$/, '');
    await fillRestoreDirectory();
    // The cluster id of an adopted snapshot is not known.
    const settings = `snapshot: ${id}\nforceForeign: true\n`;
    await onNode(node, `printf '${settings}' > ${restoreDirectory}/restore.yaml`);
    await onNode(node, `cp ${restoreDirectory}/etcd-restore.yaml /etc/kubernetes/manifests/`);
    const restored = () => namespace.until('the end of the restore', 300, resultOnNode);
    const result = await timed('an adopted snapshot restored by the static Pod', restored).catch(async (error) => {
      throw new Error(`${error.message}\n${await logOnNode()}`);
    });
    await onNode(node, 'rm /etc/kubernetes/manifests/etcd-restore.yaml');
    expect(result).toMatchObject({ ok: true });
    const { items } = await namespace.get('configmaps', '--selector=saved');
    expect(items.map(({ metadata }: Manifest) => metadata.name)).toEqual([1, 2, 3, 4, 5].map((n) => `saved-${n}`));
  });

  slowTest('and goes on from there', async () => {
    const { succeeded, pods } = await runNow(namespace, cronJob, 'afterwards');
    expect([succeeded, pods]).toEqual([true, [expect.objectContaining({ exitCode: 0 })]]);
  });
});

function synthesize(): string {
  const { app, backup } = controlPlaneBackup(namespace.name, {
    cluster,
    store: sshd.store('etcd', 'backup-sftp'),
    retention: Retention.last(5),
    fileName: 'etcd-snapshot-%Y%m%d-%H%M%S.db',
    fileNameTimeZone: 'Asia/Shanghai',
    compression: Compression.NONE,
    restoreDirectory,
  });
  restorePod = backup.restorePodYaml();
  return app.synthYaml();
}

/** What many have in a crontab; and each time an object more. */
async function runScript(times: number): Promise<void> {
  const { etcdctl } = await findTools();
  const pki = '/etc/kubernetes/pki/etcd';
  for (const file of ['ca.crt', 'healthcheck-client.crt', 'healthcheck-client.key']) {
    await writeFile(join(root, file), (await onNode(node, `cat ${pki}/${file}`)).stdout, { mode: 0o600 });
  }
  await writeFile(join(root, 'key'), sshd.credentials.privateKey!, { mode: 0o600 });
  await writeFile(join(root, 'known_hosts'), sshd.credentials.knownHosts!);
  await mkdir(sshd.folder(`etcd/${folder}`), { recursive: true });
  const { status } = JSON.parse((await kubectl(['get', 'node', node, '-o', 'json'])).stdout);
  const { address } = status.addresses.find(({ type }: Manifest) => type === 'InternalIP');
  const script = `
    set -eu
    cd ${root}
    for n in $(seq ${times}); do
      kubectl create configmap saved-$n -n ${namespace.name} >&2
      kubectl label configmap saved-$n -n ${namespace.name} saved=yes >&2
      file=etcd-snapshot-$(TZ=Asia/Shanghai date +%Y%m%d-%H%M%S).db
      ${etcdctl} --endpoints=https://${address}:2379 --cacert=ca.crt --cert=healthcheck-client.crt \\
        --key=healthcheck-client.key snapshot save $file >&2
      echo "put $file ${sshd.folder(`etcd/${folder}`)}/" | sftp -q -b - -i key -P ${sshd.port} \\
        -o UserKnownHostsFile=known_hosts ${sshd.credentials.username!.trim()}@${sshd.host} >&2
      rm $file
      sleep 1
    done`;
  await run('sh', '-c', script);
}

/** Runs a command of the agent in a pod, and returns what it said last. */
async function agent(job: string, ...args: string[]): Promise<Manifest> {
  await runAgent(namespace, cronJob, job, { store: 0, args });
  const { items } = await namespace.get('pods', `--selector=job-name=${job}`);
  return JSON.parse(await lastLogLine(namespace, items[0].metadata.name));
}

/** As the guide says. */
async function fillRestoreDirectory(): Promise<void> {
  const file = Buffer.from(restorePod).toString('base64');
  await onNode(
    node,
    `
    install -d -m 0700 ${restoreDirectory} ${restoreDirectory}/credentials ${restoreDirectory}/age
    export KUBECONFIG=/etc/kubernetes/admin.conf; umask 077
    echo ${file} | base64 -d > ${restoreDirectory}/etcd-restore.yaml
    for key in $(kubectl get secret backup-sftp -n ${namespace.name} -o go-template='{{range $key, $_ := .data}}{{$key}} {{end}}'); do
      kubectl get secret backup-sftp -n ${namespace.name} -o go-template="{{index .data \\"$key\\" | base64decode}}" > "${restoreDirectory}/credentials/$key"
    done`,
  );
}

/** The static Pod's. */
async function logOnNode(): Promise<string> {
  const { stdout } = await onNode(node, 'cat /var/log/pods/*_etcd-restore-*/restore/*.log 2>/dev/null || true');
  return stdout.trimEnd();
}

/** The last line of its log, when that is its result. */
async function resultOnNode(): Promise<Manifest | undefined> {
  const line = (await logOnNode()).split('\n').at(-1) ?? '';
  const [, result] = /^\S+ stdout F (\{.*)$/.exec(line) ?? [];
  return result === undefined ? undefined : JSON.parse(result);
}

/** Unix ms of a name's date and time, read as UTC. */
function timeInName(name: string): number {
  const [, ...parts] = /(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)\.db$/.exec(name)!.map(Number);
  const [year, month, ...rest] = parts as [number, number];
  return Date.UTC(year, month - 1, ...rest);
}
