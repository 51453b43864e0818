// npm resolves the relative links of the README. PyPI and pkg.go.dev do not, and a package lacks files that its guides link to.
// jsii-pacmak labels a block of `ts` as code of the package's language, although it leaves the code as it is.
import { posix } from 'node:path';

/**
 * Markdown whose relative links and pictures are those of the version on GitHub. `from` is the path of the file, and `keeps` says
 * which paths stay relative. Without `from`, it is the README for other languages: its TypeScript has a label that jsii-pacmak keeps.
 */
export function withAbsoluteLinks(markdown, { version, repository }, { from, keeps = () => false } = {}) {
  const homepage = repository.url.replace(/\.git$/, '');
  const raw = homepage.replace('https://github.com', 'https://raw.githubusercontent.com');
  const relative = /(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)/g;
  const labelled = from === undefined ? markdown.replace(/^```ts$/gm, '```TypeScript') : markdown;
  return labelled.replace(relative, (link, picture, text, target, fragment = '') => {
    const path = posix.join(posix.dirname(from ?? ''), target);
    if (keeps(path)) return link;
    return `${picture}${text}(${picture ? raw : `${homepage}/blob`}/v${version}/${path}${fragment})`;
  });
}
