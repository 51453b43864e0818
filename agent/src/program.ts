import { Command, Option } from 'commander';
import { compressions, levels } from './backup/manifest.ts';
import { agentVersion } from './version.ts';

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
  'restore data-dir',
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

const collect = (value: string, previous: string[] | undefined) => [...(previous ?? []), value];

/** Every flag can be set by an ETCD_AGENT_* variable too. */
function option(flags: string, description: string): Option {
  const made = new Option(flags, description);
  return made.env(`ETCD_AGENT_${made.name().replaceAll('-', '_').toUpperCase()}`);
}

const list = (flags: string, description: string) => option(flags, description).argParser(collect);

const general = [
  option('-o, --output <format>', 'what stdout gets: text for people, json for programs (one line)')
    .choices(['text', 'json'])
    .default('text'),
  option('--config <file>', 'a YAML or JSON file with any of these settings; flags and environment come before it'),
];
const storeOptions = [
  list(
    '--store <url|json>',
    's3://bucket/prefix?region=…&endpoint=…, sftp://user@host:port/dir?credentialsDirectory=… or file:///dir, or the same as a JSON object; backup takes several',
  ),
  option('--cluster <name>', 'the cluster whose snapshots these are; the folder below the store'),
  option('--namespace <name>', "the cluster's Kubernetes namespace, kept in the manifest"),
];
const etcdOptions = [
  list('--endpoints <urls>', 'comma-separated; where to begin, the other members are found from there'),
  option('--cacert <file>', "PEM certificate authorities of etcd's server certificates"),
  option('--cert <file>', 'PEM client certificate'),
  option('--key <file>', 'PEM private key of --cert'),
  option('--user <name>', 'etcd user with the root role, where auth is enabled'),
  option('--user-file <file>', 'a file that holds --user'),
  option('--password-file <file>', "a file that holds the user's password"),
  option('--dial-timeout <duration>', 'for a connection and for each short call').default('5s'),
];
const runOptions = [
  option('--timeout <duration>', 'for the whole run (default: 60s and 1s more per MiB of database)'),
  option(
    '--scratch <dir>',
    'where a copy of the database is put when it is opened (default: the system’s temporary directory)',
  ),
  option('--etcdutl <file>', 'etcd’s offline tool').default('etcdutl'),
];
const retentionOption = option(
  '--retention <rules>',
  'last=3,within=30d,hourly=24,daily=7,weekly=4,monthly=12,yearly=3,minKeep=3,timeZone=UTC; for stores without rules of their own (default: nothing is deleted)',
);
const keyOption = option(
  '--object-key <key>',
  'exactly this key below the store, not one of the names by time; retention leaves it alone',
);
const recipientOptions = [
  list(
    '--age-recipient <recipient>',
    'encrypt the snapshot with age for this public key, age1…; several may decrypt it',
  ),
  list('--age-recipients-file <file>', 'a file of such recipients, one a line'),
];
const identityOption = list(
  '--age-identity-file <file>',
  'age identities (secret keys, AGE-SECRET-KEY-…) to decrypt with, one a line',
);
const sweepOption = option('--sweep-age <duration>', 'after which the rests of dead runs are removed').default('24h');
const forceOption = option('--force', 'delete more than a quarter (or 10) of the snapshots in one run');
const metricsOption = option(
  '--metrics-file <file>',
  'also write Prometheus metrics of this run there, for node_exporter’s textfile collector (name it *.prom)',
);
const adoptOption = option('--adopt', 'when --object-key has no manifest: check the file, give it one, then go on');
const restoredFromOption = list(
  '--restored-from <cluster-id>',
  'etcd cluster id that this one was restored from by other means; its snapshots then age like its own',
);

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
    command.action(() =>
      run({
        command: full,
        args: command.args,
        flags: command.opts(),
        defaulted: new Set(
          command.options
            .map((each) => each.attributeName())
            .filter((key) => ['default', undefined].includes(command.getOptionValueSource(key))),
        ),
      }),
    );
  };

  add(program, 'backup', 'take a snapshot, store it, verify it, apply retention', '', [
    ...etcdOptions,
    ...storeOptions,
    option('--compression <kind>', 'of the stored snapshot')
      .choices([...compressions])
      .default('zstd'),
    ...recipientOptions,
    identityOption,
    option('--verify <level>', 'how far to verify what was stored, before it counts')
      .choices([...levels])
      .default('read'),
    retentionOption,
    forceOption,
    option('--trigger <why>', 'kept in the manifest').default('manual'),
    option('--file-name <pattern>', 'names of your own by time, such as orders-%Y%m%d-%H%M%S (without an ending)'),
    option('--file-name-time-zone <name>', 'of its %H and the like').default('UTC'),
    keyOption,
    option('--overwrite', 'replace what is under --object-key once the new snapshot is whole'),
    option('--survivor <endpoint>', 'recovery only: take what this one member holds, without quorum'),
    restoredFromOption,
    option('--idle-timeout <duration>', 'without a new byte of the snapshot').default('60s'),
    sweepOption,
    metricsOption,
    ...runOptions,
  ]);
  add(program, 'list', 'the snapshots of a cluster, newest first', '', [...storeOptions, retentionOption]);
  add(program, 'show', 'everything that is known of one snapshot', '[id]', [...storeOptions, keyOption]);
  add(program, 'verify', 'verify stored snapshots: those named, or all', '[ids...]', [
    ...storeOptions,
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
    ...storeOptions,
    retentionOption,
    option('--dry-run', 'only say what would go, and why the rest stays'),
    forceOption,
    restoredFromOption,
    sweepOption,
    metricsOption,
    ...runOptions.slice(0, 1),
  ]);
  add(program, 'copy', 'copy snapshots to another store, verified (default: all verified ones)', '[ids...]', [
    ...storeOptions,
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
    ...storeOptions,
    option('--max-age <duration>', 'fail when the newest verified snapshot is older'),
    metricsOption,
    ...runOptions.slice(0, 1),
  ]);
  add(program, 'pin', 'keep snapshots whatever retention says', '<ids...>', storeOptions);
  add(program, 'unpin', 'leave snapshots to retention again', '<ids...>', storeOptions);
  add(program, 'adopt', 'make backups of snapshots that others saved (default: all in the folder)', '[keys...]', [
    ...storeOptions,
    identityOption,
    option('--dry-run', 'check them, and only say what would be adopted'),
    ...runOptions,
  ]);

  const restore = program.command('restore').description('bring a snapshot back').exitOverride();
  add(restore, 'fetch', 'write the verified, plain snapshot to a file (default: the newest verified one)', '[id]', [
    ...storeOptions,
    keyOption,
    adoptOption,
    identityOption,
    option('--to <file>', 'the file to write; it must not exist'),
    ...runOptions,
  ]);
  add(
    restore,
    'data-dir',
    "make a member's data directory from a snapshot (default: the newest verified one)",
    '[id]',
    [
      ...storeOptions,
      keyOption,
      adoptOption,
      identityOption,
      option('--data-dir <dir>', 'what is there now is moved aside, not deleted'),
      option('--name <name>', "the member's name").default('default'),
      option('--initial-cluster <list>', 'name=peer-url of every member (default: this one alone)'),
      option('--initial-advertise-peer-urls <urls>', "this member's").default('http://localhost:2380'),
      option(
        '--initial-cluster-token <token>',
        'the same, and a new one, for all members (default for one member: random)',
      ),
      option('--bump-revision <n>', 'how far the revision jumps ahead, so that watchers notice; 0: not at all').default(
        '1000000000',
      ),
      option(
        '--server-version <minor>',
        'of the etcd that will start on it, such as 3.6: data that it cannot read are refused',
      ),
      ...runOptions,
    ],
  );
  return program;
}
