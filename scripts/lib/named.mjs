// The command lines of npm scripts. That of `npm run suite` and `npm run bench` is a name, then its arguments; without a name, the list
// is printed.
import { parseArgs } from 'node:util';

/** Returns the options of a command. Ends with one line for a wrong command line, or for --help. */
export function optionsOf(command, options) {
  const usage = [`npm run ${command}`, ...written(options)].join(' ');
  let values;
  try {
    values = parseArgs({ options: { help: { type: 'boolean', short: 'h' }, ...options } }).values;
  } catch (error) {
    const [problem] = error.message.split('. ');
    console.error(`${command}: ${problem}; write ${usage}`);
    process.exit(2);
  }
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  return values;
}

function written(options) {
  const each = Object.entries(options).map(([name, { type, multiple }]) => {
    const value = type === 'string' ? '=VALUE' : '';
    return `[--${name}${value}]${multiple ? '...' : ''}`;
  });
  return each.length > 0 ? ['--', ...each] : [];
}

/** Returns the chosen name and its arguments; prints the list and ends where there is none. */
export function chosen(command, entries, argv) {
  const [name, ...args] = argv;
  if (name !== undefined && Object.hasOwn(entries, name)) return { name, args };
  const width = Math.max(...Object.keys(entries).map((each) => each.length));
  const lines = Object.entries(entries).map(([each, { about, kubernetes }]) => {
    const needs = kubernetes ? ' (needs KUBECONFIG)' : '';
    return `  ${each.padEnd(width)}  ${about}${needs}`;
  });
  const list = [`npm run ${command} -- NAME [--smoke] [ARGUMENTS]`, ...lines].join('\n');
  if (name === undefined) {
    console.log(list);
    process.exit(0);
  }
  console.error(`${command}: there is no '${name}'\n${list}`);
  process.exit(2);
}
