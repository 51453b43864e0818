// The Kubernetes of a test command, and how the agent's image gets onto its nodes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildImage, findBuilder, saveImage } from './image/builder.mjs';
import { suites } from './steps.mjs';

const root = join(import.meta.dirname, '../..');
/** Image that `provideImage` builds: that of members, with the entry point of the crash suites. */
export const image = 'ghcr.io/cdk8s-etcd/member:e2e';

export class TestKubernetes {
  #command;
  #env;

  /** `command` is the name of the npm script, `env` the environment of kubectl and the loader. */
  constructor(command, env = process.env) {
    this.#command = command;
    this.#env = env;
    if (!env.KUBECONFIG) this.give('set KUBECONFIG to the file of a Kubernetes that may be used for tests');
    this.kubectl('get', '--raw', '/readyz', '--request-timeout=20s');
  }

  give(line) {
    console.error(`${this.#command}: ${line}`);
    process.exit(2);
  }

  kubectl(...args) {
    return this.#run(args);
  }

  apply(...items) {
    return this.#run(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  }

  #run(args, input) {
    const options = { encoding: 'utf8', env: this.#env, input };
    const { error, status, stdout, stderr } = spawnSync('kubectl', args, options);
    if (error) this.give('needs kubectl on the PATH');
    if (status !== 0) this.give(`kubectl ${args.join(' ')}: ${stderr.trim().split('\n').at(-1)}`);
    return stdout.trim();
  }

  /** The image under test, which the nodes have in the end. Returns its name. */
  provideImage() {
    if (this.#env.AGENT_IMAGE) return this.#env.AGENT_IMAGE;
    this.load(image, (builder) => {
      const build = [join(root, 'agent/build.mjs'), '--crashing'];
      const bundled = spawnSync(process.execPath, build, { stdio: ['ignore', 2, 2] });
      if (bundled.status !== 0) this.give('the agent could not be bundled');
      return buildImage(builder, { name: image, target: 'member' });
    });
    return image;
  }

  /** Loads an image into the nodes. `build` gets the builder and returns an exit code. */
  load(name, build) {
    const load = this.#loader();
    const builder = findBuilder();
    if (!builder) process.exit(2);
    const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-image-'));
    try {
      const archive = join(directory, 'image.tar');
      if (build(builder) !== 0) this.give('the image could not be built');
      if (saveImage(builder, name, archive) !== 0) this.give('the image could not be saved');
      const loaded = spawnSync('sh', ['-c', `${load} "$1"`, 'sh', archive], {
        stdio: ['ignore', 2, 2],
        env: this.#env,
      });
      if (loaded.status !== 0) this.give(`'${load}' could not load the image`);
    } finally {
      rmSync(directory, { recursive: true });
    }
  }

  /** Runs suites of the library against it, one at a time unless there are workers. Returns the exit code. */
  suites(paths, env, workers = 1) {
    return suites(['--project=library', ...paths], { workers, env: { ...this.#env, ...env } });
  }

  /**
   * Runs the suites of a folder, two at a time, because they mostly wait; then, unless it is a smoke test, those that
   * stop the API server or a node, one at a time. With `only`, runs just these. Returns the exit code.
   */
  folder(folder, { alone, env, only = [], smoke = false }) {
    if (only.length > 0) return this.suites(only, env);
    const those = alone.map((name) => `${folder}/${name}.suite.ts`);
    const others = this.suites([`${folder}/`, ...those.map((path) => `--exclude=${path}`)], env, 2);
    return Math.max(others, smoke ? 0 : this.suites(those, env));
  }

  /** Command that imports an archive, its last argument, on every node. */
  #loader() {
    if (this.#env.IMAGE_LOADER) return this.#env.IMAGE_LOADER;
    const context = this.kubectl('config', 'current-context');
    if (context.startsWith('kind-')) return `kind load image-archive --name ${context.slice('kind-'.length)}`;
    return this.give(
      `set IMAGE_LOADER to a command that loads an image archive into the nodes of ${context}, or AGENT_IMAGE to an image that they can pull`,
    );
  }
}
