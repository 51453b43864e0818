import { readdir } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { own } from '../../lib/own.ts';
import { isOfContainer } from '../../store/container-path.ts';

export interface SystemdUnit {
  readonly program: string;
  readonly args: readonly string[];
  /** Variables from `Environment=`. The environment files add to them. */
  readonly env: Readonly<Record<string, string>>;
  /** Files from `EnvironmentFile=`. A leading dash marks an optional file. */
  readonly environmentFiles: readonly { readonly file: string; readonly optional: boolean }[];
  readonly workingDirectory?: string;
  /** `RootDirectory=` or `RootImage=`: the service does not see the paths of this machine. */
  readonly root?: string;
  /** `User=` and `Group=`: names or numbers. */
  readonly user?: string;
  readonly group?: string;
}

/** Directories with units and their drop-ins. Of files with the same name systemd uses the first one. */
export const SYSTEMD_ROOTS = ['/etc', '/run', '/usr/local/lib', '/usr/lib', '/lib'].map(
  (root) => `${root}/systemd/system`,
);

/** Lists the drop-ins of a unit, the `.conf` files in its `.d` folders, in the order in which systemd applies them. */
export async function dropInsOf(unit: string): Promise<string[]> {
  const own = dirname(unit);
  // systemd links a unit from another directory into its own.
  const folders = SYSTEMD_ROOTS.includes(own) ? SYSTEMD_ROOTS : [own, ...SYSTEMD_ROOTS];
  const name = basename(unit);
  const ofNames = folders.flatMap((folder) => namesOf(name).map((each) => join(folder, `${each}.d`)));
  const ofType = folders.map((folder) => join(folder, `${extname(name).slice(1)}.d`));
  const found = new Map<string, string>();
  // Of drop-ins with the same name systemd uses the first one.
  for (const folder of [...ofNames, ...ofType]) {
    const names = (await readdir(folder).catch((): string[] => [])).filter((name) => name.endsWith('.conf'));
    for (const name of names) if (!found.has(name)) found.set(name, join(folder, name));
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, file]) => file);
}

/** Names whose drop-ins apply: for `a-b@c.service` the unit itself, `a-@c.service`, and the same for the template. */
function namesOf(unit: string): string[] {
  const [, prefix = unit, instance = '', type = ''] = /^([^@]+)(@.*)?(\.\w+)$/.exec(unit) ?? [];
  const upToDashes = Array.from(prefix.matchAll(/-(?=.)/g), ({ index }) => prefix.slice(0, index + 1)).reverse();
  const instances = instance.length > 1 ? [instance, '@'] : [instance];
  return instances.flatMap((each) => [prefix, ...upToDashes].map((name) => `${name}${each}${type}`));
}

/** Directories that may contain drop-ins but are not mounted into this container. */
export async function unseenRoots(where?: Parameters<typeof isOfContainer>[1]): Promise<string[]> {
  const unseen = await Promise.all(SYSTEMD_ROOTS.map((root) => isOfContainer(root, where)));
  return SYSTEMD_ROOTS.filter((_, n) => unseen[n]);
}

/** Marks text that only systemd can expand: a specifier such as `%H`, or a variable from systemd's environment. */
const UNKNOWN = '\0';

/** Returns the first specifier or variable in a value that only systemd can expand, or undefined. */
export function unknownIn(value: string): string | undefined {
  const [, specifier, variable] = /\0(%.|\$\{\w+\})|(\$(?:\w+|\{\w+\}))/.exec(value) ?? [];
  return specifier ?? variable;
}

const specified = (text: string): string =>
  text.replaceAll(/%(.)/g, (whole, letter: string) => (letter === '%' ? '%' : `${UNKNOWN}${whole}`));

/** The value as it appears in the unit. */
export const asWritten = (value: string): string => value.replaceAll(UNKNOWN, '');

/** Parses a unit followed by its drop-ins. Returns undefined if the service starts nothing. */
export function parseSystemdUnit(text: string): SystemdUnit | undefined {
  const settings = text
    // A comment between continued lines is dropped, and an empty line ends them.
    .replaceAll(/^[^\S\n]*[#;].*\n?/gm, '')
    .replaceAll(/\\\n[^\S\n]*/g, ' ')
    .split('\n')
    .flatMap((line) => {
      const [, name, value = ''] = /^\s*([A-Za-z]+)\s*=(.*)/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value.trim()] as const];
    });
  // An empty value discards the values before it.
  const all = (wanted: string) => {
    const values = settings.filter(([name]) => name === wanted).map(([, value]) => value);
    return values.slice(values.lastIndexOf('') + 1);
  };
  // Words as in a shell. The program may have a prefix, such as `-`, that controls how systemd handles a failure.
  const [program, ...args] = words(all('ExecStart').at(-1) ?? '');
  if (!program) return undefined;
  const [workingDirectory, user, group] = ['WorkingDirectory', 'User', 'Group'].map((name) => all(name).at(-1));
  const root = all('RootDirectory').at(-1) || all('RootImage').at(-1);
  return {
    program: program.replace(/^[-@:+!]+/, ''),
    args: args.map(specified),
    env: Object.fromEntries(all('Environment').flatMap((line) => words(line).map(specified).map(assignment))),
    environmentFiles: all('EnvironmentFile').map((file) => ({
      file: specified(file.replace(/^-/, '')),
      optional: file.startsWith('-'),
    })),
    workingDirectory: workingDirectory ? specified(workingDirectory.replace(/^-/, '')) : undefined,
    root: root && root !== '/' ? root : undefined,
    user: user && !unknownIn(specified(user)) ? user : undefined,
    group: group && !unknownIn(specified(group)) ? group : undefined,
  };
}

/** Expands `${NAME}` and `$NAME` in arguments, as systemd does. */
export const expanded = (args: readonly string[], env: Readonly<Record<string, string>>): string[] =>
  args.flatMap((arg) => {
    const whole = /^\$(\w+)$/.exec(arg)?.[1];
    if (whole !== undefined) return words(own(env, whole) ?? '');
    return [arg.replaceAll(/\$\{(\w+)\}/g, (text, name: string) => own(env, name) ?? `${UNKNOWN}${text}`)];
  });

function assignment(word: string): [string, string] {
  const [[name, value] = ['', '']] = Object.entries(parseEnvironmentFile(word));
  return [name, value];
}

const words = (line: string): string[] =>
  Array.from(line.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g), ([word]) => word.replaceAll(/["']/g, ''));

/** Parses a systemd EnvironmentFile: `NAME=value` lines, optional quotes around a value, and comments after `#` or `;`. */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const lines = text.replaceAll(/\\\n/g, '').split('\n');
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value = ''] = /^\s*(?:export\s+)?([A-Za-z_]\w*)=(.*)/.exec(line) ?? [];
      return name === undefined ? [] : [[name, unquoted(value.trim())]];
    }),
  );
}

const unquoted = (value: string): string => /^(["'])(.*)\1$/s.exec(value)?.[2] ?? value;
