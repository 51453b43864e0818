// What every step of a release knows: the version, its commit, and where the artifacts go.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compile, translateLibrary } from '../lib/assembly.mjs';
import { normalizeModes } from '../lib/modes.mjs';
import { atExit } from '../lib/run.mjs';
import { root } from '../lib/steps.mjs';

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 }).trim();
const { version, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** A release of the commit that is checked out. `options` are those of the command. */
export class Release {
  version = version;
  commit = git('rev-parse', 'HEAD');
  /** Time of the commit, in seconds: the only time that artifacts contain. */
  time = Number(git('show', '-s', '--format=%ct', 'HEAD'));
  homepage = repository.url.replace(/\.git$/, '');
  /** Names of the steps that were left out until now. */
  leftOut = [];
  /** By the name of the image: `sha256:…`. The step `image` fills it. */
  digests = new Map();
  /** By the name of the image: its unpacked files for each platform. The step `image` fills it. */
  contents = new Map();
  #scratch = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-release-'));
  #library;
  end = atExit(() => rmSync(this.#scratch, { recursive: true, force: true, maxRetries: 5 }));

  constructor(directory, { keyless = false, buildArgs = [], platforms, only, without }) {
    this.directory = directory;
    this.only = only;
    this.without = without;
    this.keyless = keyless;
    this.buildArgs = buildArgs;
    this.platforms = platforms;
  }

  /** Whether the checkout differs from the commit now, or may, because Git does not look at a file. */
  get hasChanges() {
    const unseen = /^(?:[a-z]|S )/m.test(git('ls-files', '-v'));
    return (
      unseen || git('status', '--porcelain', '--untracked-files=all') !== '' || git('rev-parse', 'HEAD') !== this.commit
    );
  }

  /** Environment of the programs: that of this process without the variables of npm, and the time of the commit. */
  get environment() {
    const own = Object.entries(process.env).filter(([name]) => !/^npm_|^INIT_CWD$/.test(name));
    return { ...Object.fromEntries(own), SOURCE_DATE_EPOCH: String(this.time), TZ: 'UTC', LC_ALL: 'C' };
  }

  get isoTime() {
    return new Date(this.time * 1000).toISOString().replace('.000Z', 'Z');
  }

  /** Path of an artifact. */
  file(...names) {
    return join(this.directory, ...names);
  }

  /** A directory that exists until `end`. */
  scratch(name) {
    const directory = join(this.#scratch, name);
    mkdirSync(directory, { recursive: true });
    return directory;
  }

  /** Makes the sources of the package for another language. Returns their directory. */
  sources(language) {
    const packages = this.scratch('packages');
    if (!this.#library) {
      this.#library = this.scratch('library');
      compile(this.#library);
    }
    translateLibrary(this.#library, [language], packages);
    normalizeModes(packages);
    return join(packages, language);
  }
}
