import { parseEnvironmentFile } from './environment-file.ts';

export interface SystemdUnit {
  readonly program: string;
  readonly args: readonly string[];
  /** Of `Environment=`, to which those of the files are added. */
  readonly env: Readonly<Record<string, string>>;
  /** Of `EnvironmentFile=`; those with a dash before them may be missing. */
  readonly environmentFiles: readonly { readonly file: string; readonly optional: boolean }[];
  readonly workingDirectory?: string;
}

/** What a systemd service is started with; undefined when it starts nothing. */
export function parseSystemdUnit(text: string): SystemdUnit | undefined {
  const settings = text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .flatMap((line) => {
      const [, name, value] = /^\s*([A-Za-z]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value ?? ''] as const];
    });
  const all = (wanted: string) => settings.filter(([name]) => name === wanted).map(([, value]) => value);
  // A shell's words, and a prefix such as `-` that tells systemd how to treat a failure.
  const [program, ...args] = words(all('ExecStart').findLast(Boolean) ?? '');
  if (!program) return undefined;
  const workingDirectory = all('WorkingDirectory').at(-1);
  return {
    program: program.replace(/^[-@:+!]+/, ''),
    args,
    env: Object.fromEntries(all('Environment').flatMap((line) => words(line).map(assignment))),
    environmentFiles: all('EnvironmentFile').map((file) => ({
      file: file.replace(/^-/, ''),
      optional: file.startsWith('-'),
    })),
    ...(workingDirectory && { workingDirectory: workingDirectory.replace(/^-/, '') }),
  };
}

/** `${NAME}` and `$NAME` in arguments, as systemd puts them in. */
export const expanded = (args: readonly string[], env: Readonly<Record<string, string>>): string[] =>
  args.flatMap((arg) => {
    const whole = /^\$(\w+)$/.exec(arg)?.[1];
    if (whole !== undefined) return words(env[whole] ?? '');
    return [arg.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => env[name] ?? '')];
  });

function assignment(word: string): [string, string] {
  const [[name, value] = ['', '']] = Object.entries(parseEnvironmentFile(word));
  return [name, value];
}

const words = (line: string): string[] =>
  Array.from(line.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g), ([word]) => word.replaceAll(/["']/g, ''));
