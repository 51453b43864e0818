import { Command, type OutputConfiguration } from 'commander';
import { agentVersion } from '../lib/version.ts';
import { usage } from './exit.ts';
import { option, type Verb } from './verb.ts';
import { verbs } from './verbs.ts';

export const commonOptions = [
  option('-n, --namespace <name>', 'namespace (default: that of the context)'),
  option('--context <name>', 'context of the kubeconfig (default: the current one)'),
  option('--kubeconfig <file>', 'kubeconfig (default: KUBECONFIG, or ~/.kube/config)'),
];

/** Builds the parser of the command line. It only calls `run`. */
export function buildProgram(
  run: (verb: Verb, args: readonly string[], flags: Readonly<Record<string, unknown>>) => Promise<void>,
  output: OutputConfiguration = {},
): Command {
  const program = new Command('kubectl-etcd')
    .description('Shows and changes the etcd clusters of cdk8s-etcd, through the API server alone.')
    .version(agentVersion)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput(output)
    .exitOverride();
  for (const each of commonOptions) program.addOption(each);
  for (const verb of verbs) {
    const command = program
      .command(verb.args ? `${verb.name} ${verb.args}` : verb.name)
      .description(verb.about)
      .configureHelp({ showGlobalOptions: true })
      .exitOverride();
    for (const each of verb.options ?? []) command.addOption(each);
    command.action(() => run(verb, command.args, command.optsWithGlobals()));
  }
  program.action(() => {
    const [word] = program.args;
    if (word !== undefined) throw usage(`there is no verb '${word}'; kubectl etcd --help lists them`);
    program.outputHelp();
  });
  return program.allowExcessArguments();
}
