import type { Command } from 'commander';
import { Exit, usage } from '../exit.ts';
import type { Verb } from '../verb.ts';

export const completion: Verb = {
  name: 'completion',
  args: '<shell>',
  about:
    'print a script that completes verbs and flags: bash, zsh or fish; kubectl: for a file kubectl_complete-etcd on the PATH',
  async run({ args: [shell = ''], program, terminal }) {
    const make = scripts[shell as keyof typeof scripts];
    if (!Object.hasOwn(scripts, shell)) throw usage(`'${shell}' is not one of ${Object.keys(scripts).join(', ')}`);
    terminal.print(make(program));
    return Exit.done;
  },
};

const scripts = { bash, zsh, fish, kubectl };

const flagsOf = (program: Command, command: Command): string =>
  [...command.options, ...program.options].flatMap(({ long }) => long ?? []).join(' ');

const names = ({ commands }: Command): string => commands.map((command) => command.name()).join(' ');

const cases = (program: Command, reply: (flags: string) => string): string =>
  program.commands.map((command) => `    ${command.name()}) ${reply(flagsOf(program, command))} ;;`).join('\n');

function bash(program: Command): string {
  return `_kubectl_etcd() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names(program)}" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases(program, (flags) => `COMPREPLY=($(compgen -W "${flags}" -- "$word"))`)}
  esac
}
complete -F _kubectl_etcd kubectl-etcd`;
}

function zsh(program: Command): string {
  return `#compdef kubectl-etcd
_kubectl_etcd() {
  if (( CURRENT == 2 )); then
    compadd -- ${names(program)}
    return
  fi
  case "$words[2]" in
${cases(program, (flags) => `compadd -- ${flags}`)}
  esac
}
compdef _kubectl_etcd kubectl-etcd`;
}

function fish(program: Command): string {
  const line = (command: Command): string[] => [
    `complete -c kubectl-etcd -f -n __fish_use_subcommand -a ${command.name()} -d '${command.description().replaceAll("'", '’')}'`,
    ...[...command.options, ...program.options].flatMap(({ long }) =>
      long ? [`complete -c kubectl-etcd -n '__fish_seen_subcommand_from ${command.name()}' -l ${long.slice(2)}`] : [],
    ),
  ];
  return program.commands.flatMap(line).join('\n');
}

/** What kubectl itself runs to complete `kubectl etcd`. The last line says that no files are meant. */
function kubectl(program: Command): string {
  return `#!/bin/sh
if [ "$#" -le 1 ]; then
  printf '%s\\n' ${names(program)}
else
  case "$1" in
${cases(program, (flags) => `printf '%s\\n' ${flags}`)}
  esac
fi
echo :4`;
}
