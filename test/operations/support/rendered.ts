import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { agentImage } from '../../e2e/support/settings';
import { root } from '../../guides';
import type { Manifest } from '../../synth';

const modules = join(root, 'node_modules');
let program: string | undefined;

/** The program that `npx cdk8s-etcd` runs, from this checkout. */
export function renderProgram(): string {
  if (program) return program;
  const file = join(mkdtempSync(join(tmpdir(), 'cdk8s-etcd-render-')), 'cli.cjs');
  const bundle = ['--bundle', '--platform=node', '--packages=external', '--log-level=warning'];
  execFileSync(join(modules, '.bin/esbuild'), [join(root, 'src/cli.ts'), `--outfile=${file}`, ...bundle]);
  program = `env NODE_PATH=${modules} ${process.execPath} ${file}`;
  return program;
}

export interface RenderWays {
  readonly args?: readonly string[];
  /** Of another release. */
  readonly program?: string;
  /** Replaces the agent's image that the release names. Default: the image under test. */
  readonly image?: string;
  /** The image stays. */
  readonly asReleased?: boolean;
}

export interface Rendered {
  readonly yaml: string;
  /** Line by line, as on standard error. */
  readonly said: string;
}

/** `npx cdk8s-etcd render` of resources. */
export function rendered(resources: readonly Manifest[], ways: RenderWays = {}): Rendered {
  const { args = [], program = renderProgram(), image = agentImage, asReleased } = ways;
  const input = resources.map((resource) => stringify(resource)).join('---\n');
  const [command, ...first] = program.split(' ');
  const { status, stdout, stderr } = spawnSync(command!, [...first, 'render', '-', ...args], {
    input,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`render: ${stderr}`);
  return { yaml: asReleased ? stdout : stdout.replaceAll(releasedImage, image), said: stderr };
}

/** The agent's, whatever the release. */
const releasedImage = /ghcr\.io\/cdk8s-etcd\/(agent|member):[\w.-]+/g;
