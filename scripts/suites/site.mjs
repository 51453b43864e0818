// `npm run suite -- site [--smoke] [PAGE…]`: builds the site, follows its links and anchors, and opens its pages in Chromium on a phone and
// on a desktop: no page is wider than the window, none has an error, and none asks another server. `--smoke` opens a few pages.
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { withBrowser } from '../lib/browser.mjs';
import { say } from '../lib/run.mjs';
import { must, node, root } from '../lib/steps.mjs';

const site = join(root, 'tmp/site');
const {
  values: { smoke },
  positionals: chosen,
} = parseArgs({ allowPositionals: true, options: { smoke: { type: 'boolean' } } });
const few = ['index', 'getting-started/tutorial', 'concepts/quorum-loss', 'operations/alerts', 'reference/api'];
const windows = [
  { width: 375, dark: true },
  { width: 1280, dark: false },
];
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

/** In the page: names the widest element, if the page scrolls sideways. */
const widest = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return undefined;
  const over = [...document.body.querySelectorAll('*')].filter((each) => each.getBoundingClientRect().right > clientWidth + 1);
  const last = over.at(-1);
  return 'is ' + scrollWidth + ' wide: ' + (last ? last.outerHTML.slice(0, 120) : 'unknown element');
})()`;

must(node('scripts/commands/docs.mjs'));
const pages = readdirSync(site, { recursive: true })
  .filter((file) => file.endsWith('.html') && file !== '404.html')
  .map((file) => file.replace(/\.html$/, ''))
  .sort();
const problems = [...deadLinks(), ...(await look(smoke ? few : chosen.length > 0 ? chosen : pages))];
for (const problem of problems) console.error(`site: ${problem}`);
say(`site: ${pages.length} pages, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;

/** VitePress looks for the pages of links, but not for their anchors. */
function deadLinks() {
  const html = new Map(pages.map((page) => [`/${page}.html`, readFileSync(join(site, `${page}.html`), 'utf8')]));
  const anchors = new Map([...html].map(([path, text]) => [path, new Set(text.match(/(?<=\s(?:id|name)=")[^"]+/g))]));
  return [...html].flatMap(([from, text]) =>
    [...text.matchAll(/<a\b[^>]*? href="([^"]+)"/g)].flatMap(([, href]) => {
      const { origin, pathname, hash } = new URL(href, `http://site${from}`);
      if (origin !== 'http://site') return [];
      const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
      const there = anchors.get(path);
      if (!there) return existsSync(join(site, path)) ? [] : [`${from}: ${href} leads nowhere`];
      return hash === '' || there.has(decodeURIComponent(hash.slice(1))) ? [] : [`${from}: ${href} has no such anchor`];
    }),
  );
}

async function look(paths) {
  const server = createServer(({ url }, response) => {
    const { pathname } = new URL(url, 'http://site');
    const file = join(site, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return response.writeHead(404).end();
    response.setHeader('Content-Type', types[extname(file)] ?? 'application/octet-stream');
    return createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  const found = [];
  await withBrowser(async (tab) => {
    for (const path of paths)
      for (const window of windows) {
        const errors = await tab.open(`http://127.0.0.1:${port}/${path}.html`, window);
        const wide = await tab.evaluate(widest);
        found.push(...[...errors, ...(wide ? [wide] : [])].map((each) => `/${path} at ${window.width}: ${each}`));
      }
  });
  server.close();
  return found;
}
