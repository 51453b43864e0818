// The archive and the manifest for krew: what krew's own validation demands, and that both are the same every time.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

const directory = mkdtempSync(join(tmpdir(), 'krew-'));
afterAll(() => rmSync(directory, { recursive: true }));
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const program = (name: string, prints: string) => {
  const path = join(directory, name);
  writeFileSync(path, `#!/usr/bin/env node\nconsole.log('${prints}');\n`);
  return path;
};
writeFileSync(join(directory, 'THIRD_PARTY_LICENSES'), 'a 1.0.0 (MIT)\n');
const current = program('current', version);
const file = `kubectl-etcd-v${version}.tar.gz`;

function pack(to: string, from = current, env: Record<string, string> = {}) {
  const args = ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', resolve('scripts/generate/krew.mjs')];
  execFileSync(process.execPath, [...args, `--from=${from}`, `--to=${join(directory, to)}`], {
    stdio: 'pipe',
    env: { ...process.env, ...env },
  });
  return {
    text: readFileSync(join(directory, to, 'etcd.yaml'), 'utf8'),
    archive: readFileSync(join(directory, to, file)),
  };
}

const first = pack('first');
const { metadata, spec, ...head } = parse(first.text);
const [platform, ...others] = spec.platforms;

test('the manifest is one that krew accepts', () => {
  expect(head).toEqual({ apiVersion: 'krew.googlecontainertools.github.com/v1alpha2', kind: 'Plugin' });
  // The name of the manifest's file.
  expect(metadata).toEqual({ name: 'etcd' });
  expect(spec.version).toMatch(/^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/);
  expect(spec.shortDescription).toMatch(/^[^\r\n]{1,60}$/);
  expect(spec.homepage).toMatch(/^https:\/\//);
  expect(spec.caveats).toContain('Node 22 or newer');
  expect(others).toEqual([]);
  expect(platform.selector).toEqual({
    matchExpressions: [{ key: 'os', operator: 'In', values: ['darwin', 'linux'] }],
  });
  expect(platform.uri).toMatch(new RegExp(`^https://.*/${file}$`));
  for (const { from, to } of platform.files) expect([from, to]).toEqual([expect.stringMatching(/./), '.']);
});

test('the archive is the one that the manifest names, with the program in it', () => {
  expect(platform.sha256).toBe(createHash('sha256').update(first.archive).digest('hex'));
  const inside = join(directory, 'first', file);
  const listed = execFileSync('tar', ['--list', '--verbose', '--file', inside], { encoding: 'utf8' })
    .trim()
    .split('\n');
  expect(listed.map((line) => line.split(/\s+/).at(-1))).toEqual(
    platform.files.map(({ from }: { from: string }) => from),
  );
  expect(listed[0]).toMatch(/^-..x..x..x /);
  expect(execFileSync('tar', ['-xzOf', inside, 'THIRD_PARTY_LICENSES'], { encoding: 'utf8' })).toContain('a 1.0.0');
  expect(platform.bin).toBe('kubectl-etcd');
  expect(execFileSync('tar', ['-xzOf', inside, 'kubectl-etcd'], { encoding: 'utf8' })).toBe(
    readFileSync(current, 'utf8'),
  );
});

test('the same program gives the same archive', () => {
  expect(pack('second')).toEqual(first);
});

test('the files have the time of the commit in a release', () => {
  pack('dated', current, { SOURCE_DATE_EPOCH: '1795852812' });
  execFileSync('tar', ['-xzf', join(directory, 'dated', file), '-C', join(directory, 'dated')]);
  const times = platform.files.map(({ from }: { from: string }) => statSync(join(directory, 'dated', from)).mtimeMs);
  expect(times).toEqual(Array(3).fill(1_795_852_812_000));
});

test.each([
  ['another version', program('old', '0.0.9'), /old is version 0\.0\.9, not \d.*; write it with npm run build/],
  ['no version', program('silent', ''), /silent prints no version; write it/],
  ['nothing', '/nowhere/kubectl-etcd', /nowhere\/kubectl-etcd prints no version; write it/],
])('%s is not packed', (_, from, error) => {
  expect(() => pack('refused', from)).toThrow(error);
  expect(existsSync(join(directory, 'refused'))).toBe(false);
});
