import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';

// What cannot fail here: `npm` and the test bed are stand-ins that answer at once. A whole run of `.ci/run` uses the real ones.
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ci-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function standIn(name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/usr/bin/env bash\necho "$0 $*" >> "${folder}/calls"\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

function runCi(testBed: string) {
  const { KUBECONFIG: _, ...env } = process.env;
  const { stdout, stderr, status } = spawnSync(process.execPath, [resolve('scripts/commands/ci.mjs')], {
    encoding: 'utf8',
    env: { ...env, PATH: `${folder}${delimiter}${env.PATH}`, TESTBED: testBed, CI_STARTED: '', CI_BUDGET: '1000' },
  });
  const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
  return {
    lines: stdout.trim().split('\n'),
    stderr,
    status,
    calls: calls.map((line) => line.replace(`${folder}/`, '')),
  };
}

const WORKING = 'case "$1" in env) echo "export KUBECONFIG=/from/the/bed";; esac';

test('each step runs, with the test bed before those that need it, and the last line counts them', () => {
  standIn('npm', `echo "KUBECONFIG=$KUBECONFIG" >> "${folder}/calls"`);
  const { lines, stderr, status, calls } = runCi(standIn('testbed', WORKING));
  expect(stderr).toBe('');
  expect(lines.at(-1)).toMatch(/^\d+ passed, 0 failed$/);
  expect(status).toBe(0);
  expect(calls.slice(0, 4)).toEqual(['npm run -s test', 'KUBECONFIG=', 'npm run -s check', 'KUBECONFIG=']);
  const up = calls.indexOf('testbed up');
  expect(calls.slice(up, up + 2)).toEqual(['testbed up', 'testbed env']);
  const later = calls.slice(up).filter((line) => line.startsWith('KUBECONFIG='));
  expect(later.length).toBeGreaterThan(0);
  expect(new Set(later)).toEqual(new Set(['KUBECONFIG=/from/the/bed']));
  expect(calls.at(-1)).toBe('testbed down');
});

test('the tests that failed are counted and named, as Vitest prints them without colors', () => {
  const printed = [
    ' FAIL  |library| src/a.test.ts > a name',
    ' FAIL  |agent| agent/src/b.test.ts [ agent/src/b.test.ts ]',
    '      Tests  1 failed | 8 passed (9)',
  ];
  standIn('npm', `case "$NO_COLOR$3" in 1test) printf '${printed.join('\\n')}\\n'; exit 1;; esac`);
  const { lines } = runCi(standIn('testbed', WORKING));
  expect(lines).toContain('=== test: 8 passed, 1 failed, 0 s');
  expect(lines.slice(lines.indexOf('failed: npm run test') + 1)).toEqual(expect.arrayContaining(printed.slice(0, 2)));
});

test('a test bed that does not start fails the steps that need it, and only those', () => {
  standIn('npm', '');
  const { lines, status, calls } = runCi(standIn('testbed', 'exit 1'));
  expect(lines.at(-1)).toMatch(/^[1-9]\d* passed, [1-9]\d* failed$/);
  expect(lines.some((line) => line.startsWith('the test bed did not start: npm run '))).toBe(true);
  expect(status).toBe(1);
  expect(calls).toContain('npm run -s check');
});

test('a step that fails is named at the end', () => {
  standIn('npm', 'case "$3" in check) echo "what is wrong"; exit 1;; esac');
  const { lines, status } = runCi(standIn('testbed', WORKING));
  expect(lines.slice(-3)).toEqual([
    'failed: npm run check',
    'what is wrong',
    expect.stringMatching(/ passed, 1 failed$/),
  ]);
  expect(status).toBe(1);
});
