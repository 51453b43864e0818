import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App, Chart } from 'cdk8s';
import { onNotice } from '../lib/notices';

/** A file of dist/. */
export interface DistFile {
  readonly chart: Chart;
  /** Comment at the top of the file: its content, and the commands to use it. */
  readonly header: string;
}

/** Synthesizes an app and adds the headers to its files, because cdk8s itself writes no comments. */
export function synthesize(app: App, files: readonly DistFile[]): void {
  // dist/ belongs to the release of these images.
  onNotice(app, () => {});
  app.synth();
  for (const { chart, header } of files) {
    const path = join(app.outdir, fileOf(chart.node.id));
    const yaml = readFileSync(path, 'utf8');
    // The archive of a release has these files without docs/.
    const pages = /\bdocs\//.test(header + yaml)
      ? '\nThe pages below docs/ are at https://github.com/cdk8s-etcd/cdk8s-etcd.'
      : '';
    const comment = `${header.trimEnd()}${pages}`.replace(/^/gm, '# ').replace(/ +$/gm, '');
    writeFileSync(path, `${comment}\n${yaml}`);
  }
}

export const fileOf = (chart: string): string => `${chart}.k8s.yaml`;
