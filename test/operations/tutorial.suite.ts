// The tutorial, typed as it stands on the Kubernetes of KUBECONFIG instead of kind. Its nodes have what the tutorial loads into kind:
// the image under test, under the names that are there.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Namespace } from '../e2e/support/namespace';
import { agentImage, slowTest } from '../e2e/support/settings';
import { tell } from '../e2e/watch/play';
import { root } from '../guides';
import { commandsOf, typed } from './support/typed';

const guide = 'docs/getting-started/tutorial.md';
const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-tutorial-'));
const namespace = Namespace.named(`etcd-e2e-tutorial-${randomBytes(3).toString('hex')}`);
const path = process.env.PATH;
const loaded = commandsOf(guide, 'Start Kubernetes').match(/\bghcr\.io\/\S+/g)!;

beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'agent/build-plugin.mjs')], { stdio: 'inherit' });
  process.env.PATH = `${join(root, 'lib')}${delimiter}${path}`;
  const text = readFileSync(join(root, guide), 'utf8');
  for (const [, name, code] of text.matchAll(/`([\w-]+\.yaml)`[^`]*:\n\n```yaml\n(.*?)^```$/gms))
    writeFileSync(join(directory, name!), code!.replaceAll('namespace: shop', `namespace: ${namespace.name}`));
});
afterAll(async () => {
  process.env.PATH = path;
  rmSync(directory, { recursive: true });
  await namespace.delete();
});

/** Runs the commands of a section, with the names of this test and the image under test. Returns what they print. */
async function type(section: string): Promise<string> {
  const render = `kubectl etcd render ${join(directory, 'orders.yaml')} | sed -E 's#(${loaded.join('|')})$#${agentImage}#'`;
  const begun = Date.now();
  const { stdout } = await typed(guide, section, {
    'kubectl etcd render orders.yaml': render,
    '-f backups.yaml': `-f ${join(directory, 'backups.yaml')}`,
    'namespace shop': `namespace ${namespace.name}`,
    '-n shop': `-n ${namespace.name}`,
  });
  tell(`tutorial: '${section}' ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  return stdout;
}

slowTest('a cluster forms, and has what was written', async () => {
  await type('Install the custom resources');
  expect(await type('Create a cluster')).toMatch(/^orders in \S+: Ready/m);
  expect(await type('Write something')).toMatch(/two apples.*a pear/s);
});

slowTest('a backup is listed as read back', async () => {
  expect(await type('Take a backup')).toMatch(/^first +Completed .*\bread\b/m);
});

slowTest('a member without its volume is replaced, and nothing is lost', async () => {
  expect(await type('Lose a member')).toMatch(/two apples.*a pear/s);
});

slowTest('deleted keys are back after the restore', async () => {
  await type('Lose the data');
  expect(await type('Restore it')).toMatch(/two apples.*a pear/s);
});
