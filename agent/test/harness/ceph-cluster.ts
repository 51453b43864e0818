import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from './free-ports.ts';
import { ServerProcess } from './server-process.ts';

const execute = promisify(execFile);

/**
 * The smallest Ceph: a monitor and an OSD that keeps its objects in memory, without authentication. A manager is not
 * needed: without one, only statistics are missing.
 */
export class CephCluster implements AsyncDisposable {
  readonly directory: string;
  readonly #monitor: string;
  readonly #fsid = randomUUID();
  readonly #servers: ServerProcess[] = [];

  private constructor(directory: string, port: number) {
    this.directory = directory;
    this.#monitor = `v1:127.0.0.1:${port}`;
  }

  static async start(settings: Readonly<Record<string, string | number | boolean>> = {}): Promise<CephCluster> {
    const [port] = await freePorts(1);
    const cluster = new CephCluster(await mkdtemp(join(tmpdir(), 'ceph-')), port!);
    try {
      await cluster.#launch(settings);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Runs one of Ceph's commands and returns its stdout. */
  async run(program: string, ...args: string[]): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { stdout } = await execute(program, ['-c', this.#file('ceph.conf'), ...args], { timeout: 120_000 });
        return stdout;
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code === 'ENOENT') throw new Error(`no ${program} at hand; run \`npm run suite -- etcd\``);
        // The client requested the list of commands before it knew the cluster's id, and was refused: nothing happened.
        if (attempt > 5 || !message.includes('problem getting command descriptions')) throw error;
      }
    }
  }

  /** Starts one of Ceph's servers, which ends with the cluster. */
  async spawn(program: string, ...args: string[]): Promise<ServerProcess> {
    const all = ['-c', this.#file('ceph.conf'), '-f', ...args];
    const server = await ServerProcess.spawn(program, program, all, this.#file(`${program}.out`));
    this.#servers.push(server);
    return server;
  }

  async #launch(settings: Readonly<Record<string, string | number | boolean>>): Promise<void> {
    const all = Object.entries({ ...this.#settings(), ...settings });
    const lines = all.map(([name, value]) => `${name} = ${value}\n`);
    await writeFile(this.#file('ceph.conf'), `[global]\n${lines.join('')}`);
    await writeFile(this.#file('keyring'), '');
    for (const name of ['mon', 'osd']) await mkdir(this.#file(name));

    const map = this.#file('monmap');
    await this.run('monmaptool', '--create', '--fsid', this.#fsid, '--addv', 'a', `[${this.#monitor}]`, map);
    await this.run('ceph-mon', '--mkfs', '-i', 'a', '--monmap', map);
    const monitor = await this.spawn('ceph-mon', '-i', 'a');
    await monitor.until(async () => (await this.run('ceph', '--connect-timeout', '5', 'mon', 'stat')) !== '');

    const osd = randomUUID();
    await this.run('ceph', 'osd', 'new', osd);
    await this.run('ceph', 'osd', 'crush', 'add', 'osd.0', '1', 'root=default', 'host=test');
    await this.run('ceph-osd', '--mkfs', '-i', '0', '--osd-uuid', osd);
    const storage = await this.spawn('ceph-osd', '-i', '0');
    await storage.until(async () => JSON.parse(await this.run('ceph', 'osd', 'stat', '-f', 'json')).num_up_osds === 1);
  }

  #settings(): Record<string, string | number | boolean> {
    return {
      fsid: this.#fsid,
      mon_host: this.#monitor,
      public_addr: '127.0.0.1',
      ms_bind_msgr2: false,
      auth_cluster_required: 'none',
      auth_service_required: 'none',
      auth_client_required: 'none',
      keyring: this.#file('keyring'),
      mon_data: this.#file('mon'),
      osd_data: this.#file('osd'),
      run_dir: this.directory,
      crash_dir: this.directory,
      admin_socket: this.#file('$name.asok'),
      log_file: this.#file('$name.log'),
      osd_objectstore: 'memstore',
      memstore_device_bytes: 4 * 1024 ** 3,
      // An OSD that registers its own place may ask too early, as in `run`, and ends.
      osd_class_update_on_start: false,
      osd_crush_update_on_start: false,
      osd_crush_chooseleaf_type: 0,
      osd_pool_default_size: 1,
      osd_pool_default_min_size: 1,
      osd_pool_default_pg_num: 1,
      osd_pool_default_pg_autoscale_mode: 'off',
      mon_allow_pool_size_one: true,
      // The disk is not used, so its free space does not matter.
      mon_data_avail_crit: 0,
      // Each new pool is a decision of the only monitor, which need not wait for others.
      paxos_propose_interval: 0.05,
    };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.kill()));
    await rm(this.directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #file(name: string): string {
    return join(this.directory, name);
  }
}
