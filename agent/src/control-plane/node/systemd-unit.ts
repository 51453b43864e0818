import { readdir } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { isOfContainer } from '../../store/container-path.ts';
import { parseEnvironmentFile } from './environment-file.ts';

export interface SystemdUnit {
  readonly program: string;
  readonly args: readonly string[];
  /** Of `Environment=`, to which those of the files are added. */
  readonly env: Readonly<Record<string, string>>;
  /** Of `EnvironmentFile=`; those with a dash before them may be missing. */
  readonly environmentFiles: readonly { readonly file: string; readonly optional: boolean }[];
  readonly workingDirectory?: string;
  /** `User=` and `Group=`: names or numbers. */
  readonly user?: string;
  readonly group?: string;
}

/** Where systemd looks for units and their drop-ins; of files of the same name the first one counts. */
export const SYSTEMD_ROOTS = ['/etc', '/run', '/usr/local/lib', '/usr/lib', '/lib'].map(
  (root) => `${root}/systemd/system`,
);

/** The `.conf` files in the `.d` folders of a unit, in the order in which systemd adds them to it. */
export async function dropInsOf(unit: string): Promise<string[]> {
  const own = dirname(unit);
  // One elsewhere is linked into them.
  const folders = SYSTEMD_ROOTS.includes(own) ? SYSTEMD_ROOTS : [own, ...SYSTEMD_ROOTS];
  const name = basename(unit);
  const ofNames = folders.flatMap((folder) => namesOf(name).map((each) => join(folder, `${each}.d`)));
  const ofType = folders.map((folder) => join(folder, `${extname(name).slice(1)}.d`));
  const found = new Map<string, string>();
  // The first one of a name counts.
  for (const folder of [...ofNames, ...ofType]) {
    const names = (await readdir(folder).catch((): string[] => [])).filter((name) => name.endsWith('.conf'));
    for (const name of names) if (!found.has(name)) found.set(name, join(folder, name));
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, file]) => file);
}

/** Of `a-b@c.service` itself, `a-@c.service`, and the same of its template. */
function namesOf(unit: string): string[] {
  const [, prefix = unit, instance = '', type = ''] = /^([^@]+)(@.*)?(\.\w+)$/.exec(unit) ?? [];
  const upToDashes = Array.from(prefix.matchAll(/-(?=.)/g), ({ index }) => prefix.slice(0, index + 1)).reverse();
  const instances = instance.length > 1 ? [instance, '@'] : [instance];
  return instances.flatMap((each) => [prefix, ...upToDashes].map((name) => `${name}${each}${type}`));
}

/** Those that may hold drop-ins and are not mounted into this container. */
export async function unseenRoots(where?: Parameters<typeof isOfContainer>[1]): Promise<string[]> {
  const unseen = await Promise.all(SYSTEMD_ROOTS.map((root) => isOfContainer(root, where)));
  return SYSTEMD_ROOTS.filter((_, n) => unseen[n]);
}

/** Before what only systemd can put in: a specifier such as `%H`, a variable of its own environment. */
const UNKNOWN = '\0';

/** What in a value is not known here: a specifier, or a variable; undefined: nothing. */
export function unknownIn(value: string): string | undefined {
  const [, specifier, variable] = /\0(%.|\$\{\w+\})|(\$(?:\w+|\{\w+\}))/.exec(value) ?? [];
  return specifier ?? variable;
}

const specified = (text: string): string =>
  text.replaceAll(/%(.)/g, (whole, letter: string) => (letter === '%' ? '%' : `${UNKNOWN}${whole}`));

/** As somebody wrote it. */
export const written = (value: string): string => value.replaceAll(UNKNOWN, '');

/** What a systemd service is started with, from its unit and the drop-ins behind it; undefined when it starts nothing. */
export function parseSystemdUnit(text: string): SystemdUnit | undefined {
  const settings = text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .flatMap((line) => {
      const [, name, value] = /^\s*([A-Za-z]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value ?? ''] as const];
    });
  // An empty value takes back what was said before.
  const all = (wanted: string) => {
    const values = settings.filter(([name]) => name === wanted).map(([, value]) => value);
    return values.slice(values.lastIndexOf('') + 1);
  };
  // A shell's words, and a prefix such as `-` that tells systemd how to treat a failure.
  const [program, ...args] = words(all('ExecStart').at(-1) ?? '');
  if (!program) return undefined;
  const [workingDirectory, user, group] = ['WorkingDirectory', 'User', 'Group'].map((name) => all(name).at(-1));
  return {
    program: program.replace(/^[-@:+!]+/, ''),
    args: args.map(specified),
    env: Object.fromEntries(all('Environment').flatMap((line) => words(line).map(specified).map(assignment))),
    environmentFiles: all('EnvironmentFile').map((file) => ({
      file: specified(file.replace(/^-/, '')),
      optional: file.startsWith('-'),
    })),
    ...(workingDirectory && { workingDirectory: specified(workingDirectory.replace(/^-/, '')) }),
    ...(user && !unknownIn(specified(user)) && { user }),
    ...(group && !unknownIn(specified(group)) && { group }),
  };
}

/** `${NAME}` and `$NAME` in arguments, as systemd puts them in. */
export const expanded = (args: readonly string[], env: Readonly<Record<string, string>>): string[] =>
  args.flatMap((arg) => {
    const whole = /^\$(\w+)$/.exec(arg)?.[1];
    if (whole !== undefined) return words(env[whole] ?? '');
    return [arg.replaceAll(/\$\{(\w+)\}/g, (text, name: string) => env[name] ?? `${UNKNOWN}${text}`)];
  });

function assignment(word: string): [string, string] {
  const [[name, value] = ['', '']] = Object.entries(parseEnvironmentFile(word));
  return [name, value];
}

const words = (line: string): string[] =>
  Array.from(line.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g), ([word]) => word.replaceAll(/["']/g, ''));
