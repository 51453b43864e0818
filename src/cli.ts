#!/usr/bin/env node
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { agentImage } from './lib/agent-image';
import { InputError } from './render/report';
import { render } from './render/run';

const usage = `Usage: cdk8s-etcd render FILE [options]

Writes the manifests of EtcdCluster, EtcdBackup, EtcdRestore, EtcdUser, EtcdBackupSchedule and EtcdReconciler resources as YAML. FILE
is YAML, or '-' for standard input: resources of cdk8s-etcd.dev/v1alpha1, etcd.database.coreos.com/v1beta2 or etcd.ydzs.io/v1alpha1.
Notes, and fields that could not be carried over, are written to standard error.

  -o, --output FILE      write to this file instead of standard output
  -n, --namespace NAME   the namespace of every object, instead of the one in its document
      --registry NAME    a registry that mirrors the images
      --agent-image NAME an image of the agent that you built yourself
      --crds             put the CustomResourceDefinitions first; you must then run kubectl apply twice
      --no-reconciler    leave out the reconciler, because the namespace already has one
      --resources        write the resources of cdk8s-etcd.dev/v1alpha1 themselves, for your repository, instead of their manifests
      --restore-pod N    write the static Pod that restores a control plane from its store number N, such as 1, instead
      --version          show the version
  -h, --help             show this help
`;

/** Options that change only manifests. */
const ofManifests = ['registry', 'agent-image', 'crds', 'no-reconciler', 'restore-pod'] as const;

const done = 0;
const unexpected = 1;
const wrongInput = 2;

function main(args: string[]): void {
  const { values, positionals } = parse(args);
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  if (values.version) {
    // The images and the package have one version.
    console.log(agentImage.slice(agentImage.lastIndexOf(':') + 1));
    return;
  }
  const [command, file, ...more] = positionals;
  if (command !== 'render' || file === undefined || more.length > 0) {
    throw new InputError(["error: write 'cdk8s-etcd render FILE'; --help shows more"]);
  }
  const useless = values.resources ? ofManifests.find((option) => values[option] !== undefined) : undefined;
  if (useless !== undefined) {
    throw new InputError([
      `error: --${useless}: has no effect with --resources; give it when you render the resources`,
    ]);
  }
  const { yaml, lines } = render(read(file), {
    file: file === '-' ? 'standard input' : file,
    namespace: values.namespace,
    registry: values.registry,
    agentImage: values['agent-image'],
    crds: values.crds,
    reconciler: !values['no-reconciler'],
    restorePod: storeNumber(values['restore-pod']),
    resources: values.resources,
  });
  write(yaml, values.output, file);
  for (const line of lines) console.error(line);
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        output: { type: 'string', short: 'o' },
        namespace: { type: 'string', short: 'n' },
        registry: { type: 'string' },
        'agent-image': { type: 'string' },
        crds: { type: 'boolean' },
        'no-reconciler': { type: 'boolean' },
        'restore-pod': { type: 'string' },
        resources: { type: 'boolean' },
        version: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    // Only the first sentence of parseArgs is useful; the rest is about positionals.
    throw new InputError([`error: ${(error as Error).message.split(/[.\n]/)[0]}; --help shows the options`]);
  }
}

function storeNumber(text: string | undefined): number | undefined {
  if (text === undefined || /^[1-9]\d?$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new InputError([`error: --restore-pod: '${text}' is not the number of a store; write 1 for the first`]);
}

function read(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new InputError([`error: ${file}: cannot be read (${codeOf(error)})`]);
  }
}

function write(yaml: string, output: string | undefined, input: string): void {
  if (output === undefined) {
    process.stdout.write(yaml);
    return;
  }
  if (resolve(output) === resolve(input))
    throw new InputError([`error: ${output}: is also the input; give another file for --output`]);
  try {
    writeFileSync(output, yaml);
  } catch (error) {
    throw new InputError([`error: ${output}: cannot be written (${codeOf(error)})`]);
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}

// Do not call process.exit: standard output may be a pipe that has not been flushed yet.
process.exitCode = done;
try {
  main(process.argv.slice(2));
} catch (error) {
  if (error instanceof InputError) for (const line of error.lines) console.error(line);
  else console.error(error);
  process.exitCode = error instanceof InputError ? wrongInput : unexpected;
}
