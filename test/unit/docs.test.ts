import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { guides, root } from '../guides';

test('the README names every guide', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  expect(guides.slice(1).filter((guide) => !readme.includes(`(${guide})`))).toEqual([]);
});

test('every remark of the linter of manifests has its answer', () => {
  const script = readFileSync(join(root, 'scripts/lint-manifests.mjs'), 'utf8');
  const remarks = [...script.matchAll(/^ {2}(['"])(.*)\1: \{$/gm)].map(([, , remark]) => remark!);
  const answers = readFileSync(join(root, 'docs/reference/policy-linters.md'), 'utf8');
  expect(remarks.length).toBeGreaterThan(5);
  expect(remarks.filter((remark) => !answers.includes(remark))).toEqual([]);
});

test.each(guides)('the links of %s lead somewhere', (guide) => {
  const text = readFileSync(join(root, guide), 'utf8');
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)];
  const dead = links.filter(([, path, anchor]) => {
    const target = join(root, path ? join(dirname(guide), path) : guide);
    return !existsSync(target) || (anchor && !anchorsOf(target).includes(anchor));
  });
  expect(dead.map(([link]) => link)).toEqual([]);
});

/** Anchors of the headings, as GitHub generates them, and explicit anchors. */
function anchorsOf(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!);
  const slugs = headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
  return [...slugs, ...[...text.matchAll(/ name="([^"]+)"/g)].map(([, name]) => name!)];
}
