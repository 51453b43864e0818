import { Command, type Option } from 'commander';
import { levels } from '../../backup/catalog/manifest.ts';
import { notBoolean, parseBoolean } from '../../lib/boolean.ts';
import { ExitCode } from '../../lib/errors.ts';
import { agentVersion } from '../../lib/version.ts';
import {
  adoptOption,
  cacertOption,
  clusterIdOption,
  controlPlaneOptions,
  encodingOptions,
  etcdOptions,
  forceFailedOption,
  forceForeignOption,
  forceOption,
  general,
  hostOptions,
  identityOption,
  idleOption,
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

/** What commander found: flags and environment; `sources` tells which of them were not given at all. */
export interface Invocation {
  readonly command: CommandName;
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  /** Options that hold their default only: a config file may set them. */
  readonly defaulted: ReadonlySet<string>;
}

const oneLine = (message: string) =>
  message
    .replace(/^error: /, '')
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ');

const readOptions = [...storeOptions, clusterIdOption];

/** The command line. `run` gets what was parsed; nothing else happens here. */
export function buildProgram(run: (invocation: Invocation) => Promise<void>): Command {
  const program = new Command('etcd-agent')
    .description('Takes, verifies, prunes and restores etcd snapshots.')
    .version(agentVersion)
    .configureOutput({
      outputError: (message, write) => write(`etcd-agent: ${oneLine(message)}; --help shows what there is\n`),
    })
    .exitOverride();

  const add = (parent: Command, name: string, description: string, args: string, options: Option[]) => {
    const command = parent
      .command(args ? `${name} ${args}` : name)
      .description(description)
      .exitOverride();
    for (const each of [...options, ...general]) command.addOption(each);
    const full = (parent === program ? name : `${parent.name()} ${name}`) as CommandName;
    command.action(() => {
      readBooleans(command);
      return run({
        command: full,
        args: command.args,
        flags: command.opts(),
        defaulted: new Set(
          command.options
            .map((each) => each.attributeName())
            .filter((key) => ['default', undefined].includes(command.getOptionValueSource(key))),
        ),
      });
    });
  };

  add(program, 'backup', 'take a snapshot, store it, verify it, apply retention', '', [
    ...etcdOptions,
    ...storeOptions,
    ...encodingOptions,
    retentionOption,
    forceOption,
    option('--trigger <why>', 'kept in the manifest').default('manual'),
    option(
      '--request <id>',
      'a snapshot that every store has for this same request is reported, and none is taken again',
    ),
    ...hostOptions,
    ...nameOptions,
    keyOption,
    option('--overwrite', 'replace what is under --object-key once the new snapshot is whole'),
    option('--survivor <endpoint>', 'recovery only: take what this one member holds, without quorum'),
    restoredFromOption,
    idleOption,
    sweepOption,
    metricsOption,
    ...runOptions,
  ]);
  add(program, 'list', 'the snapshots of a cluster, newest first', '', [
    ...readOptions,
    option(
      '--retention <rules>',
      'such as last=3,daily=7: also show which of these rules would keep each one; nothing is deleted',
    ),
    ...runOptions.slice(0, 1),
  ]);
  add(program, 'show', 'everything that is known of one snapshot', '[id]', [
    ...readOptions,
    keyOption,
    ...runOptions.slice(0, 1),
  ]);
  add(program, 'verify', 'verify stored snapshots: those named, or all', '[ids...]', [
    ...readOptions,
    keyOption,
    option(
      '--level <level>',
      'stream: it is there; read: read it and compare sums; open: also open the database and compare HashKV',
    )
      .choices([...levels])
      .default('read'),
    identityOption,
    option('--subset <n/m>', 'the n-th of m parts of all snapshots, such as 1/7 on Mondays'),
    metricsOption,
    ...runOptions,
  ]);
  add(program, 'prune', 'apply retention now', '', [
    ...readOptions,
    retentionOption,
    option('--dry-run', 'only say what would go, and why the rest stays'),
    forceOption,
    restoredFromOption,
    sweepOption,
    metricsOption,
    ...runOptions.slice(0, 1),
  ]);
  add(program, 'copy', 'copy snapshots to another store, verified (default: all verified ones)', '[ids...]', [
    ...readOptions,
    option('--to <url|json>', 'the store to copy to, written as --store is'),
    metricsOption,
    ...runOptions.slice(0, 1),
  ]);
  add(program, 'check', 'look whether a backup would work: etcd, stores, clocks, keys, tools', '', [
    ...etcdOptions,
    ...storeOptions,
    ...recipientOptions,
    identityOption,
    ...runOptions,
  ]);
  add(program, 'status', 'the newest verified snapshot of each store, and whether it is new enough', '', [
    ...readOptions,
    option('--max-age <duration>', 'fail when the newest verified snapshot is older'),
    metricsOption,
    ...runOptions.slice(0, 1),
  ]);
  add(program, 'pin', 'keep snapshots whatever retention says', '<ids...>', [
    ...storeOptions,
    ...runOptions.slice(0, 1),
  ]);
  add(program, 'unpin', 'leave snapshots to retention again', '<ids...>', [...storeOptions, ...runOptions.slice(0, 1)]);
  add(program, 'adopt', 'make backups of snapshots that others saved (default: all in the folder)', '[keys...]', [
    ...storeOptions,
    identityOption,
    forceForeignOption,
    option('--dry-run', 'check them, and only say what would be adopted'),
    ...runOptions,
  ]);

  add(program, 'keep-image', 'do nothing until told to stop, so that the node keeps the image', '', []);
  add(
    program,
    'gate',
    'in a pod, before etcd: prepare the volume and wait for leave to start',
    '',
    memberOptions('gate'),
  );
  add(program, 'serve', 'in a pod, beside etcd: look after the member and tell how it is', '', memberOptions('serve'));

  add(program, 'reconcile', 'grow, shrink, upgrade, repair and restore the etcd clusters of a namespace', '', [
    option('--namespace <name>', 'whose clusters (default: that of the pod or of the KUBECONFIG)'),
    option('--selector <labels>', 'only EtcdClusters with these labels, such as team=shop (default: all)'),
    option(
      '--deployment <name>',
      'its own; when that is deleted, nothing is left to wait for it (default: it has none)',
    ),
    option('--lease <name>', 'the Lease that one of several at a time holds').default('etcd-reconciler'),
    option('--listen <host:port>', 'where GET /livez, /readyz and /metrics are answered').default('0.0.0.0:8080'),
    option('--settings <file>', 'YAML or JSON with times (ms) and lags of its own, such as promoteLag: 500'),
  ]);

  const restore = program.command('restore').description('bring a snapshot back').exitOverride();
  add(restore, 'fetch', 'write the verified, plain snapshot to a file (default: the newest verified one)', '[id]', [
    ...readOptions,
    keyOption,
    adoptOption,
    forceForeignOption,
    forceFailedOption,
    identityOption,
    option('--to <file>', 'the file to write; it must not exist'),
    ...runOptions,
  ]);
  add(
    restore,
    'extra',
    'write the extra files of a snapshot to a tar file (default: of the newest verified one)',
    '[id]',
    [
      ...readOptions,
      identityOption,
      option('--to <file>', 'the tar file to write; it must not exist'),
      ...runOptions.slice(0, 1),
    ],
  );
  add(
    restore,
    'data-dir',
    "make a member's data directory from a snapshot (default: the newest verified one)",
    '[id]',
    [
      ...readOptions,
      keyOption,
      sha256Option,
      adoptOption,
      forceForeignOption,
      forceFailedOption,
      identityOption,
      option('--data-dir <dir>', 'what is there now is moved aside, not deleted'),
      option('--name <name>', "the member's name").default('default'),
      option('--initial-cluster <list>', 'name=peer-url of every member (default: this one alone)'),
      option('--initial-advertise-peer-urls <urls>', "this member's").default('http://localhost:2380'),
      option(
        '--initial-cluster-token <token>',
        'the same, and a new one, for all members (default for one member: random)',
      ),
      option(
        '--bump-revision <n>',
        'how far the revision jumps ahead, so that watchers notice; 0: not at all (default: billions, until it is above every revision that is known to have been served)',
      ),
      option('--again', 'restore once more what was restored here, and move what is there aside'),
      option(
        '--once',
        'leave what was restored here as it is, also where etcd has written to it: for an init container',
      ),
      serverVersionOption,
      ...runOptions,
    ],
  );
  add(
    restore,
    'serve',
    'verify a snapshot, try to restore it, then serve it to a gate until it is told to stop (default: the newest verified one)',
    '[id]',
    [
      ...readOptions,
      keyOption,
      adoptOption,
      forceForeignOption,
      forceFailedOption,
      option('--latest-verified-before <time>', 'the newest verified one from before it, such as 2026-11-21T02:30:00Z'),
      identityOption,
      sha256Option,
      option('--expected-revision <n>', 'what the snapshot must have'),
      serverVersionOption,
      option('--token-sha256 <hex>', 'of the token that GET /snapshot asks for'),
      option('--listen <host:port>', 'where GET /status and GET /snapshot are answered').default('0.0.0.0:8080'),
      peerTlsOption,
      ...runOptions,
    ],
  );
  add(
    restore,
    'control-plane',
    "restore this node's etcd, with no API server: kubeadm's, or one outside the kubelet (default: the newest verified snapshot)",
    '[id]',
    [
      ...readOptions,
      keyOption,
      sha256Option,
      adoptOption,
      forceFailedOption,
      identityOption,
      ...controlPlaneOptions,
      option('--initial-cluster <list>', 'name=peer-url of every member (default: those that the snapshot tells of)'),
      option(
        '--initial-cluster-token <token>',
        'the same for all members (default: made of the snapshot and --bump-revision)',
      ),
      option(
        '--bump-revision <n>',
        'added to the revision of the snapshot, the same for all members (default: billions, until it is above every revision that is known to have been served)',
      ),
      serverVersionOption,
      ...runOptions,
    ],
  );
  add(program, 'salvage', 'store what a gate salvaged; ETCD_AGENT_SOURCE_URL, _TOKEN and _SHA256 say where it is', '', [
    ...storeOptions,
    ...encodingOptions,
    ...nameOptions,
    option('--trigger <why>', 'kept in the manifest').default('salvage'),
    option('--cluster-id <id>', 'of the etcd that is salvaged: else its snapshot is in no line with its other backups'),
    peerTlsOption,
    cacertOption,
    option('--server-name <name>', 'that the certificate of the gate must hold (default: the host of its URL)'),
    idleOption,
    sweepOption,
    metricsOption,
    ...runOptions,
  ]);
  return program;
}

/** Commander takes a variable that is set for `true`, whatever it says. */
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
