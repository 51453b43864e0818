import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { freePorts } from '../harness/free-ports.ts';

export interface Target {
  /** Host and port. */
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: string;
}

/** A real Prometheus that scrapes these targets once a second. */
export class Prometheus implements AsyncDisposable {
  readonly #url: string;
  readonly #end: () => Promise<void>;

  private constructor(url: string, end: () => Promise<void>) {
    this.#url = url;
    this.#end = end;
  }

  static async start(targets: readonly Target[], groups: readonly object[] = []): Promise<Prometheus> {
    const directory = await mkdtemp(join(tmpdir(), 'prometheus-'));
    const [port] = await freePorts(1);
    const scrape = targets.map(({ address, labels }) => ({ targets: [address], labels }));
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yaml'],
      scrape_configs: [{ job_name: 'etcd', static_configs: scrape }],
    };
    await writeFile(join(directory, 'prometheus.yaml'), stringify(config));
    await writeFile(join(directory, 'rules.yaml'), stringify({ groups }));
    const args = [
      `--config.file=${join(directory, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const child = spawn('prometheus', args, { stdio: 'ignore' });
    const ended = once(child, 'exit');
    const prometheus = new Prometheus(`http://127.0.0.1:${port}`, async () => {
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true });
    });
    for (const deadline = Date.now() + 60_000; ; await sleep(200)) {
      const ready = await fetch(`${prometheus.#url}/-/ready`).catch(() => undefined);
      if (ready?.ok) return prometheus;
      if (Date.now() > deadline || child.exitCode !== null) {
        await prometheus[Symbol.asyncDispose]();
        throw new Error('Prometheus did not start');
      }
    }
  }

  async query(expr: string): Promise<Sample[]> {
    const answer = await fetch(`${this.#url}/api/v1/query`, {
      method: 'POST',
      body: new URLSearchParams({ query: expr }),
    });
    const { status, error, data } = (await answer.json()) as {
      status: string;
      error?: string;
      data: { result: { metric: Record<string, string>; value: [number, string] }[] };
    };
    if (status !== 'success') throw new Error(`${expr}: ${error}`);
    return data.result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }));
  }

  async alerts(): Promise<Alert[]> {
    const answer = await fetch(`${this.#url}/api/v1/alerts`);
    const { data } = (await answer.json()) as { data: { alerts: Alert[] } };
    return data.alerts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}
