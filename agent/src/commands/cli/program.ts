import { Command, Help, type Option } from 'commander';
import { levels } from '../../backup/catalog/manifest.ts';
import { ExitCode, oneLine } from '../../lib/errors.ts';
import { notBoolean, parseBoolean } from '../../lib/input/boolean.ts';
import { agentVersion } from '../../lib/version.ts';
import {
  acceptAuthenticationOption,
  adoptOption,
  beforeOption,
  cacertOption,
  clusterIdOption,
  controlPlaneOptions,
  dataDirOptions,
  encodingOptions,
  etcdOptions,
  forceFailedOption,
  forceForeignOption,
  forceOption,
  general,
  hostOptions,
  identityOption,
  idleOption,
  keepOption,
  keyOption,
  memberOptions,
  metricsOption,
  nameOptions,
  option,
  peerTlsOption,
  recipientOptions,
  restoredFromOption,
  retentionOption,
  runOptions,
  serverVersionOption,
  sha256Option,
  storeOptions,
  sweepOption,
  timeoutOption,
} from './options.ts';

export const commandNames = [
  'backup',
  'list',
  'show',
  'verify',
  'prune',
  'copy',
  'check',
  'status',
  'exporter',
  'pin',
  'unpin',
  'adopt',
  'restore fetch',
  'restore extra',
  'restore data-dir',
  'restore serve',
  'restore control-plane',
  'salvage',
  'keep-image',
  'gate',
  'serve',
  'reconcile',
] as const;
export type CommandName = (typeof commandNames)[number];

/** A parsed command line, including environment variables. */
export interface Invocation {
  readonly command: CommandName;
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  /** Options that have only their default value, so that a config file may set them. */
  readonly defaulted: ReadonlySet<string>;
  /** Options that an environment variable sets. */
  readonly fromEnvironment: ReadonlySet<string>;
}

/** Heading of the commands that manifests run, in the help. */
const POD_COMMANDS = 'Commands that pods run:';

const requestOption = option(
  '--request <id>',
  'id of this request; if every store already has a snapshot with this id, report it and take none',
);

const readOptions = [...storeOptions, clusterIdOption];

/** Builds the parser of the command line. It only calls `run` with the parsed invocation. */
export function buildProgram(run: (invocation: Invocation) => Promise<void>): Command {
  const program = new Command('etcd-agent')
    .description('Takes, verifies, prunes and restores etcd snapshots.')
    .version(agentVersion)
    .configureOutput({
      outputError: (message, write) =>
        write(`etcd-agent: ${oneLine(message.replace(/^error: /, ''))}; use --help for usage\n`),
    })
    .exitOverride();

  const add = (parent: Command, name: string, description: string, args: string, options: Option[]): Command => {
    const command = parent
      .command(args ? `${name} ${args}` : name)
      .description(description)
      .exitOverride();
    for (const each of [...options, ...general]) command.addOption(each);
    const full = (parent === program ? name : `${parent.name()} ${name}`) as CommandName;
    return command.action(() => {
      readBooleans(command);
      const setBy = (...sources: readonly (string | undefined)[]) =>
        new Set(
          command.options
            .map((each) => each.attributeName())
            .filter((key) => sources.includes(command.getOptionValueSource(key))),
        );
      return run({
        command: full,
        args: command.args,
        flags: command.opts(),
        defaulted: setBy('default', undefined),
        fromEnvironment: setBy('env'),
      });
    });
  };

  add(program, 'backup', 'take a snapshot, store it, verify it and apply retention', '', [
    ...etcdOptions,
    ...storeOptions,
    ...encodingOptions,
    retentionOption,
    keepOption,
    forceOption,
    option('--trigger <why>', 'reason for the backup, recorded in the manifest').default('manual'),
    requestOption,
    option(
      '--request-age <duration>',
      'report such a snapshot only while it is younger than this; a suspect one always',
    ),
    ...hostOptions,
    ...nameOptions,
    keyOption,
    option('--overwrite', 'replace the object at --object-key even if it is not an export'),
    option('--survivor <endpoint>', 'for recovery only: take the data of this single member, without a quorum'),
    restoredFromOption,
    idleOption,
    sweepOption,
    metricsOption,
    ...runOptions,
  ]);
  add(
    program,
    'list',
    'list the snapshots of a cluster, newest first, or the clusters of a store (without --cluster)',
    '',
    [
      ...readOptions,
      option(
        '--retention <rules>',
        'also show which of these rules would keep each snapshot, for example last=3,daily=7; nothing is deleted',
      ),
      keepOption,
      timeoutOption,
    ],
  );
  add(program, 'show', 'show the details of a snapshot (default: the newest verified one)', '[id]', [
    ...readOptions,
    keyOption,
    timeoutOption,
  ]);
  add(program, 'verify', 'verify stored snapshots (default: all)', '[ids...]', [
    ...readOptions,
    keyOption,
    option(
      '--level <level>',
      'stream: the payload exists and has the size that was stored; read: read it and compare checksums; open: also open the database and compare HashKV',
    )
      .choices([...levels])
      .default('read'),
    identityOption,
    option('--subset <n/m>', 'verify only the n-th of m parts of all snapshots, for example 1/7 on Mondays'),
    metricsOption,
    ...runOptions,
  ]);
  add(program, 'prune', 'apply retention now', '', [
    ...readOptions,
    retentionOption,
    option('--dry-run', 'only report what would be deleted, and why the rest stays'),
    keepOption,
    forceOption,
    restoredFromOption,
    sweepOption,
    metricsOption,
    timeoutOption,
  ]);
  add(
    program,
    'copy',
    'copy snapshots to another store and verify them there (default: all verified ones)',
    '[ids...]',
    [
      ...readOptions,
      option('--to <url|json>', 'store to copy to, in the form of --store'),
      metricsOption,
      timeoutOption,
    ],
  );
  add(program, 'check', 'check that a backup would succeed (etcd, stores, clocks, keys, tools)', '', [
    ...etcdOptions,
    ...storeOptions,
    ...recipientOptions,
    identityOption,
    ...runOptions,
  ]);
  add(program, 'status', 'show the newest verified snapshot of each store, and whether it is recent enough', '', [
    ...readOptions,
    option('--max-age <duration>', 'fail if the newest verified snapshot is older, for example 26h'),
    metricsOption,
    timeoutOption,
  ]);
  add(program, 'exporter', 'serve Prometheus metrics of the stores, and read the stores again and again', '', [
    ...readOptions,
    ...etcdOptions,
    option('--interval <duration>', 'time from one read of a store to the next').default('5m'),
    option('--timeout <duration>', 'time limit for one read of a store').default('2m'),
    option('--listen <host:port>', 'address that answers GET /livez, /readyz and /metrics').default('0.0.0.0:8080'),
  ]);
  add(program, 'pin', 'protect snapshots from retention', '<ids...>', [...storeOptions, timeoutOption]);
  add(program, 'unpin', 'let retention manage these snapshots again', '<ids...>', [...storeOptions, timeoutOption]);
  add(program, 'adopt', 'import snapshots saved by other tools (default: all of theirs in the folder)', '[keys...]', [
    ...storeOptions,
    identityOption,
    forceForeignOption,
    option(
      '--backup-ended',
      'also adopt a named payload whose backup may still be running; pass it only if no backup of the cluster is running',
    ),
    option('--dry-run', 'check the files, and only report what would be adopted'),
    ...runOptions,
  ]);

  const restore = program
    .command('restore')
    .description('restore a snapshot; see etcd-agent restore --help')
    .exitOverride();
  add(
    restore,
    'fetch',
    'write a snapshot to a file, verified, decrypted and decompressed (default: the newest verified one)',
    '[id]',
    [
      ...readOptions,
      beforeOption,
      keyOption,
      adoptOption,
      forceForeignOption,
      forceFailedOption,
      identityOption,
      option('--to <file>', 'file to write; it must not exist'),
      ...runOptions,
    ],
  );
  add(
    restore,
    'extra',
    'write the extra files of a snapshot to a tar file (default: of the newest verified one)',
    '[id]',
    [...readOptions, identityOption, option('--to <file>', 'tar file to write; it must not exist'), timeoutOption],
  );
  add(
    restore,
    'data-dir',
    "create a member's data directory from a snapshot (default: the newest verified one)",
    '[id]',
    [
      ...readOptions,
      beforeOption,
      keyOption,
      sha256Option,
      adoptOption,
      forceForeignOption,
      forceFailedOption,
      identityOption,
      ...dataDirOptions,
      serverVersionOption,
      ...runOptions,
    ],
  );
  add(
    restore,
    'control-plane',
    'restore the etcd of this node without an API server: of kubeadm, or outside the kubelet (default: the newest verified snapshot)',
    '[id]',
    [
      ...readOptions,
      beforeOption,
      keyOption,
      sha256Option,
      adoptOption,
      forceFailedOption,
      identityOption,
      ...controlPlaneOptions,
      serverVersionOption,
      ...runOptions,
    ],
  );

  add(
    program,
    'gate',
    'prepare the volume of a member, and wait for the permit to start etcd',
    '',
    memberOptions('gate'),
  ).helpGroup(POD_COMMANDS);
  add(program, 'serve', 'run beside etcd, and report the status of the member', '', memberOptions('serve')).helpGroup(
    POD_COMMANDS,
  );
  add(program, 'reconcile', 'grow, shrink, upgrade, repair and restore the etcd clusters of a namespace', '', [
    option('--namespace <name>', 'namespace of the clusters (default: that of the pod or of the kubeconfig)'),
    option('--selector <labels>', 'manage only EtcdClusters with these labels, for example team=shop (default: all)'),
    option(
      '--deployment <name>',
      "the reconciler's own Deployment; when it is deleted, no object waits for the reconciler any more (default: none)",
    ),
    option('--lease <name>', 'name of the Lease that only one reconciler holds at a time').default('etcd-reconciler'),
    option('--listen <host:port>', 'address that answers GET /livez, /readyz and /metrics').default('0.0.0.0:8080'),
    option(
      '--tuning <file>',
      'YAML or JSON file with times (ms) and lags (raft entries) that replace the defaults, for example promoteLag: 500',
    ),
  ]).helpGroup(POD_COMMANDS);
  const restoreServe = add(
    restore,
    'serve',
    'verify a snapshot, try to restore it, then serve it to gates until a signal arrives (default: the newest verified one)',
    '[id]',
    [
      ...readOptions,
      keyOption,
      adoptOption,
      forceForeignOption,
      forceFailedOption,
      beforeOption,
      identityOption,
      sha256Option,
      option('--expected-revision <n>', 'revision that the snapshot must have'),
      serverVersionOption,
      acceptAuthenticationOption,
      option(
        '--token-sha256 <hex>',
        'SHA-256 of the token that GET /snapshot requires without TLS; key of the proof in GET /status',
      ),
      option('--listen <host:port>', 'address that answers GET /status and GET /snapshot').default('0.0.0.0:8080'),
      peerTlsOption,
      ...runOptions,
    ],
  ).helpGroup(POD_COMMANDS);
  add(
    program,
    'salvage',
    'store the snapshot that a gate salvaged; ETCD_AGENT_SOURCE_URL, _TOKEN and _SHA256 say where it is',
    '',
    [
      ...storeOptions,
      ...encodingOptions,
      ...nameOptions,
      option('--trigger <why>', 'reason for the backup, recorded in the manifest').default('salvage'),
      requestOption,
      option(
        '--cluster-id <id>',
        'etcd cluster id of the salvaged data; without it the snapshot is not connected with other backups of the cluster',
      ),
      peerTlsOption,
      cacertOption,
      option(
        '--server-name <name>',
        'name that the certificate of the gate must contain (default: the host of its URL)',
      ),
      idleOption,
      sweepOption,
      metricsOption,
      ...runOptions,
    ],
  ).helpGroup(POD_COMMANDS);
  add(program, 'keep-image', 'idle, so that the node keeps the image', '', []).helpGroup(POD_COMMANDS);

  showWithPodCommands(program, restoreServe);
  return program;
}

/** Also lists a subcommand of another command in the program's help. */
function showWithPodCommands(program: Command, command: Command): void {
  const { visibleCommands, subcommandTerm } = Help.prototype;
  program.configureHelp({
    visibleCommands(of) {
      return [...visibleCommands.call(this as Help, of), command];
    },
    subcommandTerm(of) {
      const term = subcommandTerm.call(this as Help, of);
      return of === command ? `${of.parent?.name()} ${term}` : term;
    },
  });
}

/** Reads the text of boolean variables. Commander takes every variable that is set for `true`. */
function readBooleans(command: Command): void {
  for (const option of command.options) {
    const name = option.attributeName();
    if (!option.isBoolean() || !option.envVar || command.getOptionValueSource(name) !== 'env') continue;
    const text = process.env[option.envVar] ?? '';
    const value = parseBoolean(text);
    if (value === undefined) command.error(`${option.envVar}: ${notBoolean(text)}`, { exitCode: ExitCode.usage });
    command.setOptionValueWithSource(name, value, 'env');
  }
}
