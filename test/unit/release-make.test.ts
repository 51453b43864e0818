// How the steps of a release go together: what fails, what is left out, and two releases at once.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evaluated } from './scripts';

let directory: string;
let out: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-release-make-'));
  out = join(directory, 'release');
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Environment with Git and stand-ins for other programs alone. */
function withPrograms(programs: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const bin = mkdtempSync(join(directory, 'bin-'));
  symlinkSync(execFileSync('which', ['git'], { encoding: 'utf8' }).trim(), join(bin, 'git'));
  for (const [name, body] of Object.entries(programs))
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return { ...process.env, PATH: bin, TMPDIR: directory, CDK8S_ETCD_CACHE: join(directory, 'cache') };
}

/** Returns what was left out, or the message of the failure. */
const made = (options: object, env = withPrograms({})) =>
  evaluated(
    'release/make.mjs',
    `m.makeRelease(${JSON.stringify(out)}, ${JSON.stringify(options)}).catch(({ message }) => message)`,
    env,
  );
const provenance = () => JSON.parse(readFileSync(join(out, 'provenance.json'), 'utf8'));

test('a program that fails is the failure of its step, and no directory is left', () => {
  expect(made({ only: ['npm'] }, withPrograms({ tsc: 'exit 3' }))).toBe(
    'npm: a program of this step ended with 3; the lines above say why',
  );
  expect(readdirSync(directory).filter((name) => name.startsWith('cdk8s-etcd-'))).toEqual([]);
});

test('the provenance names what was left out, and then nothing is signed', () => {
  const without = ['version', 'npm', 'plugin', 'python', 'java', 'go', 'image', 'npm-sbom'];
  const leftOut: string[] = made({ without });
  expect(leftOut.slice(-2)).toEqual([
    'image-sbom: there is no image',
    'signature: not everything was made, so nothing is signed; `--only signature` tries it',
  ]);
  const names = leftOut.slice(0, -1).map((line) => line.split(':')[0]);
  expect(provenance().buildDefinition.internalParameters.leftOut).toEqual(names);
  expect(made({ only: ['image', 'signature'] }).at(-1)).toMatch(/^signature: no cosign: /);
});
