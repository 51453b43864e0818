// Writes docs/reference/command-line.md from the agent's own definition of its commands. With --check it writes
// nothing, and fails if the page is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildProgram } from '../../agent/src/commands/cli/program.ts';
import { root } from '../lib/steps.mjs';

const page = join(root, 'docs/reference/command-line.md');

const program = buildProgram(async () => {});
const content = `# Command line of the agent

<!-- Written by \`npm run generate\` from agent/src/commands/cli/. -->

The image's entry point is \`etcd-agent\`; from a checkout, write \`npm run -s agent -- COMMAND\`. Every flag is also an
environment variable, and most are fields of the \`--config\` file: [agent.md](agent.md) describes both, the results and the
logs. [exit-codes.md](exit-codes.md) lists the exit codes.

${leaves(program).map(section).join('\n')}`;

if (!process.argv.includes('--check')) writeFileSync(page, content);
else if (readFileSync(page, { encoding: 'utf8' }) !== content) {
  console.error('docs/reference/command-line.md is out of date: run npm run generate');
  process.exitCode = 1;
}

/** The executable commands, each with its full name. */
function leaves(command, name = 'etcd-agent') {
  return command.commands.flatMap((each) => {
    const full = `${name} ${each.name()}`;
    return each.commands.length > 0 ? leaves(each, full) : [{ command: each, name: full }];
  });
}

function section({ command, name }) {
  const args = command.registeredArguments.map((argument) => {
    const label = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? ` <${label}>` : ` [${label}]`;
  });
  const options = command.options.filter(({ hidden }) => !hidden);
  const rows = options.map((option) => `| \`${option.flags.replaceAll('|', '\\|')}\` | ${describe(option)} |`);
  const table = rows.length > 0 ? `| flag | meaning |\n| --- | --- |\n${rows.join('\n')}\n` : 'It takes no flags.\n';
  return `## ${name}${args.join('')}\n\n${sentence(command.description())}\n\n${table}`;
}

function describe({ description, argChoices, defaultValue }) {
  const notes = [
    argChoices && `one of ${argChoices.map((choice) => `\`${choice}\``).join(', ')}`,
    defaultValue !== undefined &&
      ![false, ''].includes(defaultValue) &&
      `default: \`${[defaultValue].flat().join(',')}\``,
  ].filter(Boolean);
  return `${description.replaceAll('|', '\\|').replaceAll('<', '&lt;')}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`;
}

function sentence(text) {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return `${first.replaceAll('<', '&lt;')}${first.endsWith('.') ? '' : '.'}`;
}
