import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App, Chart } from 'cdk8s';
import { onUnreleased } from '../lib/unreleased-image';

/** A file of dist/. */
export interface DistFile {
  readonly chart: Chart;
  /** Comment at the top of the file: its content, and the commands to use it. */
  readonly header: string;
}

/** Synthesizes an app and adds the headers to its files, because cdk8s itself writes no comments. */
export function synthesize(app: App, files: readonly DistFile[]): void {
  // dist/ belongs to the release of these images.
  onUnreleased(app, () => {});
  app.synth();
  for (const { chart, header } of files) {
    const path = join(app.outdir, fileOf(chart.node.id));
    const comment = header.trimEnd().replace(/^/gm, '# ').replace(/ +$/gm, '');
    writeFileSync(path, `${comment}\n${readFileSync(path, 'utf8')}`);
  }
}

export const fileOf = (chart: string): string => `${chart}.k8s.yaml`;
