// Writes docs/reference/command-line.md, and the verbs in docs/reference/kubectl-etcd.md, from the definitions of the
// programs themselves. With --check it writes nothing, and fails if a page is out of date.
import { buildProgram } from '../../agent/src/commands/cli/program.ts';
import { buildProgram as buildPlugin } from '../../agent/src/plugin/program.ts';
import { generated } from '../lib/generated.mjs';

const program = buildProgram(async () => {});
const commands = leaves(program);
const shared = sharedRows(commands);
const content = `# Command line of the agent

<!-- Written by \`npm run generate\` from agent/src/commands/cli/. -->

The image's entry point is \`etcd-agent\`; from a checkout, write \`npm run -s agent -- COMMAND\`. Every flag is also an
environment variable, and most are fields of the \`--config\` file: [agent.md](agent.md) describes both, the results and the
logs. [exit-codes.md](exit-codes.md) lists the exit codes.

## Flags of several commands

${table([...shared.keys()])}
${commands.map((leaf) => section(leaf, '##', shared)).join('\n')}`;

generated('docs/reference/command-line.md', () => content);
const [begin, end] = [
  '<!-- Written by `npm run generate` from agent/src/plugin/. -->',
  '<!-- End of what `npm run generate` writes. -->',
];
const plugin = buildPlugin(async () => {});
generated('docs/reference/kubectl-etcd.md', (page) => {
  const [before, rest = ''] = page.split(begin);
  const verbs = leaves(plugin, 'kubectl etcd');
  const ofVerbs = sharedRows(verbs);
  const sections = verbs.map((leaf) => section(leaf, '###', ofVerbs, 'verbs'));
  return `${before}${begin}

${flags(plugin.options)}
### Flags of several verbs

${table([...ofVerbs.keys()])}
${sections.join('\n')}
${end}${rest.split(end)[1]}`;
});

/** The executable commands, each with its full name. */
function leaves(command, name = 'etcd-agent') {
  return command.commands.flatMap((each) => {
    const full = `${name} ${each.name()}`;
    return each.commands.length > 0 ? leaves(each, full) : [{ command: each, name: full }];
  });
}

/** The rows of flags that three commands or more have with the same words, each with the flag's name. */
function sharedRows(commands) {
  const all = commands.flatMap(({ command }) => command.options.filter(({ hidden }) => !hidden));
  const times = Map.groupBy(all, row);
  return new Map([...times].filter(([, { length }]) => length >= 3).map(([text, [{ long }]]) => [text, `\`${long}\``]));
}

function section({ command, name }, heading = '##', shared = new Map(), users = 'commands') {
  const args = command.registeredArguments.map((argument) => {
    const label = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? ` <${label}>` : ` [${label}]`;
  });
  const options = command.options.filter(({ hidden }) => !hidden);
  const table = options.length > 0 ? flags(options, shared, users) : 'It takes no flags.\n';
  return `${heading} \`${name}${args.join('')}\`\n\n${sentence(command.description())}\n\n${table}`;
}

function flags(options, shared = new Map(), users = 'commands') {
  const rows = options.map(row);
  const own = rows.filter((each) => !shared.has(each));
  const others = rows.filter((each) => shared.has(each)).map((each) => shared.get(each));
  const also = `[Flags of several ${users}](#flags-of-several-${users}): ${others.join(', ')}.\n`;
  return [own.length > 0 && table(own), others.length > 0 && also].filter(Boolean).join('\n');
}

function table(rows) {
  return `| flag | meaning |\n| --- | --- |\n${rows.join('\n')}\n`;
}

function row(option) {
  return `| \`${option.flags.replaceAll('|', '\\|')}\` | ${describe(option)} |`;
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
