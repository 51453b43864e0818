// Writes docs/reference/command-line.md, and the verbs in docs/reference/kubectl-etcd.md, from the definitions of the
// programs themselves. With --check it writes nothing, and fails if a page is out of date.
import { buildProgram } from '../../agent/src/commands/cli/program.ts';
import { buildProgram as buildPlugin } from '../../agent/src/plugin/program.ts';
import { generated } from '../lib/generated.mjs';

const program = buildProgram(async () => {});
const content = `# Command line of the agent

<!-- Written by \`npm run generate\` from agent/src/commands/cli/. -->

The image's entry point is \`etcd-agent\`; from a checkout, write \`npm run -s agent -- COMMAND\`. Every flag is also an
environment variable, and most are fields of the \`--config\` file: [agent.md](agent.md) describes both, the results and the
logs. [exit-codes.md](exit-codes.md) lists the exit codes.

${leaves(program)
  .map((leaf) => section(leaf))
  .join('\n')}`;

generated('docs/reference/command-line.md', () => content);
const [begin, end] = [
  '<!-- Written by `npm run generate` from agent/src/plugin/. -->',
  '<!-- End of what `npm run generate` writes. -->',
];
const plugin = buildPlugin(async () => {});
generated('docs/reference/kubectl-etcd.md', (page) => {
  const [before, rest = ''] = page.split(begin);
  const verbs = leaves(plugin, 'kubectl etcd')
    .map((leaf) => section(leaf, '###'))
    .join('\n');
  return `${before}${begin}\n\n${flags(plugin.options)}\n${verbs}\n${end}${rest.split(end)[1]}`;
});

/** The executable commands, each with its full name. */
function leaves(command, name = 'etcd-agent') {
  return command.commands.flatMap((each) => {
    const full = `${name} ${each.name()}`;
    return each.commands.length > 0 ? leaves(each, full) : [{ command: each, name: full }];
  });
}

function section({ command, name }, heading = '##') {
  const args = command.registeredArguments.map((argument) => {
    const label = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? ` <${label}>` : ` [${label}]`;
  });
  const options = command.options.filter(({ hidden }) => !hidden);
  const table = options.length > 0 ? flags(options) : 'It takes no flags.\n';
  return `${heading} \`${name}${args.join('')}\`\n\n${sentence(command.description())}\n\n${table}`;
}

function flags(options) {
  const rows = options.map((option) => `| \`${option.flags.replaceAll('|', '\\|')}\` | ${describe(option)} |`);
  return `| flag | meaning |\n| --- | --- |\n${rows.join('\n')}\n`;
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
