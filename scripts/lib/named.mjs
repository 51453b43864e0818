// The command line of `npm run suite` and `npm run bench`: a name, then its arguments; without a name, the list.

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
