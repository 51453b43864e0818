// The README of the package for another language has the app of examples/ instead of TypeScript, without its first line, which
// refers to the others.
const examples = {
  python: ['Python', 'examples/python/main.py'],
  java: ['Java', 'examples/java/Main.java'],
  go: ['Go', 'examples/go/main.go'],
};

/** `read` returns the text of a file of the repository. */
export function readmeFor(language, readme, read) {
  const [name, path] = examples[language];
  const begin = readme.indexOf('See it work');
  const end = readme.indexOf('## Documentation');
  if (begin < 0 || end < begin) throw new Error("README.md has no 'See it work' before '## Documentation'");
  const app = [
    `[How to get the package and run an app](docs/getting-started/other-languages.md), and how names translate to ${name}.`,
    '',
    '## An app',
    `This is [\`${path}\`](${path}): a cluster with certificates, hourly backups and monitoring.`,
    '',
    `\`\`\`${language}`,
    read(path).replace(/^.*\n/, '').trimEnd(),
    '```',
  ];
  return `${readme.slice(0, begin)}${app.join('\n')}\n\n${readme.slice(end)}`;
}
