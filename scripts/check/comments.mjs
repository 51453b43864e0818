// Lints the English of comments and of test titles with the rules of the documentation (style.yml).
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter, loadTextlintrc } from 'textlint';
import { root } from '../lib/steps.mjs';

const patterns = [
  /^ *\/\*\*(?<block>.*?)\*\//gms,
  /(?<=^|\s)\/\/ (?<lines>.*(?:\n *\/\/ .*)*)/gm,
  /^ *(?:test|describe)\b.*?\((?<quote>['"`])(?<title>.*?)\k<quote>/gm,
];

/** Returns Markdown in which each comment of a source is one line, with the number of the line on which it begins. */
function prose(source) {
  const lines = Array(source.split('\n').length).fill('');
  for (const { index, groups } of patterns.flatMap((pattern) => [...source.matchAll(pattern)])) {
    const { block, lines: comment, title } = groups;
    const text = block?.replace(/\n *\*/g, ' ') ?? comment?.replace(/\n *\/\/ /g, ' ') ?? title;
    lines[source.slice(0, index).split('\n').length - 1] += ` ${text.replace(/\s+/g, ' ').trim()}`;
  }
  // A Markdown paragraph per line, and no code block for an indented one.
  return lines.map((line) => line.trim()).join('\n\n');
}

const linter = createLinter({ descriptor: await loadTextlintrc() });
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts', '*.mts', '*.mjs'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && !file.startsWith('imports/') && existsSync(join(root, file)));
for (const file of files) {
  const { messages } = await linter.lintText(prose(readFileSync(join(root, file), 'utf8')), `${file}.md`);
  for (const { line, message } of messages) {
    console.error(`${file}:${(line + 1) / 2}: ${message}`);
    process.exitCode = 1;
  }
}
