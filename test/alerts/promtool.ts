import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Chart, Testing } from 'cdk8s';
import { stringify } from 'yaml';
import { notation, type Timeline } from './scenario';

export interface Rule {
  readonly alert: string;
  readonly for: string;
}

/** Tests rules of Prometheus. Its answers are empty if all is as expected. */
export class Promtool {
  readonly rules: readonly Rule[];
  private readonly directory = mkdtempSync(join(tmpdir(), 'etcd-alerts-'));

  /** @param chart the rules of everything in it */
  constructor(chart: Chart) {
    const manifests = Testing.synth(chart).filter(({ kind }) => kind === 'PrometheusRule');
    const groups: { readonly rules: readonly Rule[] }[] = manifests.flatMap(({ spec }) => spec.groups);
    this.rules = groups.flatMap(({ rules }) => rules);
    writeFileSync(join(this.directory, 'rules.yaml'), stringify({ groups }));
  }

  dispose(): void {
    rmSync(this.directory, { recursive: true });
  }

  check(): string {
    return this.run('check', 'rules', 'rules.yaml');
  }

  /** Whether exactly these alerts fire in these minutes: their labels, of which each is one of `by`. */
  fires(
    timeline: Timeline,
    expected: ReadonlyMap<number, readonly Readonly<Record<string, string>>[]>,
    by = 'alertname',
  ): string {
    const labels = (of: Readonly<Record<string, string>>) =>
      `{${Object.entries(of)
        .map(([name, value]) => `${name}="${value}"`)
        .join(',')}}`;
    const test = {
      rule_files: ['rules.yaml'],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: [...timeline].map(([series, values]) => ({ series, values: notation(values) })),
          promql_expr_test: [...expected].map(([minute, alerts]) => ({
            expr: `count by (${by}) (ALERTS{alertstate="firing", namespace="shop"})`,
            eval_time: `${minute}m`,
            exp_samples: alerts.map((alert) => ({ labels: labels(alert), value: 1 })),
          })),
        },
      ],
    };
    writeFileSync(join(this.directory, 'test.yaml'), stringify(test));
    return this.run('test', 'rules', 'test.yaml');
  }

  private run(...args: readonly string[]): string {
    const { status, stdout, stderr, error } = spawnSync('promtool', args, { cwd: this.directory, encoding: 'utf8' });
    if (error) throw error;
    return status === 0 ? '' : `${stdout}${stderr}`;
  }
}
