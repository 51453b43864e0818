// Where the pages of the repository are on the site, and how links between their files become links between pages.
import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export const root = join(import.meta.dirname, '../..');
export const repository = 'https://github.com/cdk8s-etcd/cdk8s-etcd';

/** Pages outside of docs/, which GitHub expects where they are. */
const elsewhere = {
  'API.md': 'reference/api.md',
  'CHANGELOG.md': 'releases/changelog.md',
  'CONTRIBUTING.md': 'contributing/index.md',
  'SECURITY.md': 'operations/report-a-vulnerability.md',
  'bench/RESULTS.md': 'contributing/results.md',
};

/** Returns the page of a file of the repository, or undefined if the site does not have it. */
export function pageOf(file) {
  if (elsewhere[file]) return elsewhere[file];
  if (!file.startsWith('docs/') || !file.endsWith('.md')) return undefined;
  return file.slice('docs/'.length).replace(/README\.md$/, 'index.md');
}

/** GitHub's anchor of a heading, so that a link to a section works on GitHub and on the site. */
export const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

/** Makes relative links lead to pages, and those to other files of the repository to GitHub, which also draws Mermaid's diagrams. */
export function plainMarkdown(markdown) {
  markdown.core.ruler.push('plain_markdown', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' && token.attrGet('href');
      // The index of the search needs no links, and is made without the name of the file.
      if (href && env.realPath && !/^([a-z]+:|#)/.test(href))
        token.attrSet('href', linkOf(href, relative(root, env.realPath)));
      // Braces in code are no expressions of Vue.
      if (token.type === 'code_inline') token.attrSet('v-pre', '');
    }
    for (const token of tokens.filter(({ type, info }) => type === 'fence' && info === 'mermaid')) {
      token.type = 'html_block';
      token.content = env.realPath
        ? `<p><a href="${onGitHub(relative(root, env.realPath))}">The diagram on GitHub</a></p>\n`
        : '';
    }
  });
}

function linkOf(href, from) {
  const [path, anchor] = href.split('#');
  const file = join(dirname(from), path);
  if (!existsSync(join(root, file))) throw new Error(`${from}: ${href} does not exist; fix the link`);
  const page = pageOf(file);
  if (!page) return onGitHub(file);
  // jsii-docgen puts the package before the name of a type.
  const id = file === 'API.md' && anchor ? `cdk8s-etcd.${anchor}` : anchor;
  return `/${page}${id ? `#${id}` : ''}`;
}

const onGitHub = (file) => `${repository}/${statSync(join(root, file)).isDirectory() ? 'tree' : 'blob'}/main/${file}`;
