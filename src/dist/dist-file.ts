import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App, Chart } from 'cdk8s';

/** A file of dist/. */
export interface DistFile {
  readonly chart: Chart;
  /** What it is, and the commands that use it. */
  readonly header: string;
}

/** cdk8s itself writes no comments. */
export function synthesize(app: App, files: readonly DistFile[]): void {
  app.synth();
  for (const { chart, header } of files) {
    const path = join(app.outdir, fileOf(chart.node.id));
    const comment = header.trimEnd().replace(/^/gm, '# ').replace(/ +$/gm, '');
    writeFileSync(path, `${comment}\n${readFileSync(path, 'utf8')}`);
  }
}

export const fileOf = (chart: string): string => `${chart}.k8s.yaml`;
