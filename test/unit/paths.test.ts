import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(__dirname, '../..');

/** Programs and files that a source names beside itself: TypeScript checks imports, and not these. */
const named = [
  /import\.meta\.dirname, '([^'$]+)'/g,
  /import\.meta\.resolve\('(\.[^'$]+)'\)/g,
  /new URL\('(\.[^'$]+)', import\.meta\.url\)/g,
  /__dirname, '([^'$]+)'/g,
];
const sources = execFileSync('git', ['ls-files', '*.ts', '*.mts', '*.mjs'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)) && join(root, file) !== __filename);

/** Build output is not in a fresh clone. */
const isBuilt = (path: string) => /(^|\/)lib\/(src\/|bin\/|kubectl-etcd$)/.test(path);

test('every file that a source names beside itself exists', () => {
  const missing = sources.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return named
      .flatMap((pattern) => [...text.matchAll(pattern)].map(([, path]) => path!))
      .filter((path) => !isBuilt(path) && !existsSync(join(root, dirname(file), path)))
      .map((path) => `${file}: ${path}`);
  });
  expect(missing).toEqual([]);
});
