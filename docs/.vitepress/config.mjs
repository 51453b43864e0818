// The site: `npm run docs`. SITE_BASE is its path on the server, `/` by default.
import { defineConfig } from 'vitepress';
import { anchorOf, pageOf, plainMarkdown, repository, root } from './pages.mjs';
import { sidebar } from './sidebar.mjs';

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#1d4ed8"/><circle cx="8" cy="5" r="2" fill="#fff"/><circle cx="4.5" cy="11" r="2" fill="#fff"/><circle cx="11.5" cy="11" r="2" fill="#fff"/></svg>';

export default defineConfig({
  title: 'cdk8s-etcd',
  description: 'Run, back up and restore etcd on Kubernetes, from TypeScript',
  base: process.env.SITE_BASE ?? '/',
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  // The root of the repository, because some pages are outside of docs/.
  srcDir: root,
  srcExclude: ['README.md', '{agent,dist,examples,lib,pkg,src,test,tmp}/**'],
  outDir: `${root}/tmp/site`,
  cacheDir: `${root}/tmp/site-cache`,
  rewrites: (file) => pageOf(file) ?? file,
  // jsii-docgen writes types in braces, which are not attributes.
  markdown: { anchor: { slugify: anchorOf }, attrs: { disable: true }, config: plainMarkdown },
  transformPageData({ relativePath, frontmatter }) {
    // API.md has a thousand headings.
    if (relativePath === 'reference/api.md') frontmatter.outline = [2, 3];
  },
  // Vite's own default has a browser for which esbuild compiles no destructuring.
  vite: { build: { target: 'es2022', chunkSizeWarningLimit: 2_000 } },
  themeConfig: {
    nav: [
      { text: 'Tutorial', link: '/getting-started/tutorial' },
      { text: 'Guides', link: '/' },
      { text: 'API', link: '/reference/api' },
      { text: 'Runbook', link: '/operations/runbook' },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repository }],
  },
});
