// npm resolves the relative links of the README. PyPI and pkg.go.dev do not.

/** Markdown whose relative links and pictures are those of the version on GitHub. */
export function withAbsoluteLinks(markdown, { version, repository }) {
  const homepage = repository.url.replace(/\.git$/, '');
  const raw = homepage.replace('https://github.com', 'https://raw.githubusercontent.com');
  const relative = /(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)\s]+)\)/g;
  return markdown.replace(
    relative,
    (_, picture, text, path) => `${picture}${text}(${picture ? raw : `${homepage}/blob`}/v${version}/${path})`,
  );
}
