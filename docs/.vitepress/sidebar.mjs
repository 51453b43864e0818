// The sidebar: the sections of docs/README.md, which lists every page, with the page of each of its links.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageOf, root } from './pages.mjs';

/** Sections that a reader opens rarely. */
const collapsed = ['Reference', 'Contributing'];

export function sidebar() {
  const index = readFileSync(join(root, 'docs/README.md'), 'utf8');
  return index
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.split('\n')[0],
      collapsed: collapsed.includes(section.split('\n')[0]),
      items: [...section.matchAll(/^- \[([^\]]+)\]\(([^)#]+)\)/gm)].map(([, text, path]) => ({
        text,
        link: `/${pageOf(join('docs', path))}`.replace(/\.md$/, ''),
      })),
    }))
    .filter(({ items }) => items.length > 0);
}
