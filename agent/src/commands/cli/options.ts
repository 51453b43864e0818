import { Option } from 'commander';
import { compressions, levels } from '../../backup/catalog/manifest.ts';
import { flagsOf, type MemberCommand } from '../../member/member-config.ts';

// The options of the command line: those that several commands have.

const collect = (value: string, previous: string[] | undefined) => [...(previous ?? []), value];

/** Every flag can be set by an ETCD_AGENT_* variable too. */
export function option(flags: string, description: string): Option {
  const made = new Option(flags, description);
  return made.env(`ETCD_AGENT_${made.name().replaceAll('-', '_').toUpperCase()}`);
}

export const list = (flags: string, description: string) => option(flags, description).argParser(collect);

export const general = [
  option('-o, --output <format>', 'what stdout gets: text for people, json for programs (one line)')
    .choices(['text', 'json'])
    .default('text'),
  option('--config <file>', 'a YAML or JSON file with any of these settings; flags and environment come before it'),
];
export const storeOptions = [
  list(
    '--store <url|json>',
    's3://bucket/prefix?region=…&endpoint=…, sftp://user@host:port/dir?credentialsDirectory=… or file:///dir, or the same as a JSON object; backup takes several',
  ),
  option('--cluster <name>', 'the cluster whose snapshots these are'),
  option(
    '--namespace <name>',
    "the cluster's Kubernetes namespace; the folder below the store is NAMESPACE/CLUSTER, or CLUSTER without one",
  ),
];
export const clusterIdOption = option(
  '--cluster-id <id>',
  'of the etcd whose snapshots count, as `list` shows it: only where those of several share the folder',
);
export const cacertOption = option('--cacert <file>', "PEM certificate authorities of etcd's server certificates");
export const etcdOptions = [
  list('--endpoints <urls>', 'comma-separated; where to begin, the other members are found from there'),
  cacertOption,
  option('--cert <file>', 'PEM client certificate'),
  option('--key <file>', 'PEM private key of --cert'),
  option('--user <name>', 'etcd user with the root role, where auth is enabled'),
  option('--user-file <file>', 'a file that holds --user'),
  option('--password-file <file>', "a file that holds the user's password"),
  option('--dial-timeout <duration>', 'for a connection and for each short call').default('5s'),
];
export const runOptions = [
  option('--timeout <duration>', 'for the whole run (default: 60s and 1s more per MiB of database)'),
  option(
    '--scratch <dir>',
    'where a copy of the database is put when it is opened (default: the system’s temporary directory)',
  ),
  option('--etcdutl <file>', 'etcd’s offline tool').default('etcdutl'),
];
export const retentionOption = option(
  '--retention <rules>',
  'last=3,within=30d,hourly=24,daily=7,weekly=4,monthly=12,yearly=3,minKeep=3,timeZone=UTC; for stores without rules of their own (default: nothing is deleted)',
);
export const sha256Option = option('--sha256 <hex>', 'what the plain snapshot must have');
export const keyOption = option(
  '--object-key <key>',
  'exactly this key below the store, not one of the names by time; retention leaves it alone',
);
export const recipientOptions = [
  list(
    '--age-recipient <recipient>',
    'encrypt the snapshot with age for this public key, age1…; several may decrypt it',
  ),
  list('--age-recipients-file <file>', 'a file of such recipients, one a line'),
];
export const identityOption = list(
  '--age-identity-file <file>',
  'age identities (secret keys, AGE-SECRET-KEY-…) to decrypt with, one a line; or a directory of such files',
);
export const sweepOption = option('--sweep-age <duration>', 'after which the rests of dead runs are removed').default(
  '24h',
);
export const forceOption = option('--force', 'delete more than a quarter (or 10) of the snapshots in one run');
export const metricsOption = option(
  '--metrics-file <file>',
  'also write Prometheus metrics of this run there, for node_exporter’s textfile collector (name it *.prom)',
);
export const adoptOption = option(
  '--adopt',
  'when --object-key has no manifest: check the file, give it one, then go on',
);
export const forceForeignOption = option(
  '--force-foreign',
  "take a snapshot although the data here are of another cluster, or adopt a file in another cluster's folder",
);
export const forceFailedOption = option(
  '--force-failed',
  'restore the snapshot although it is suspect, or `verify` found it bad or left what cannot be read',
);
export const serverVersionOption = option(
  '--server-version <minor>',
  'of the etcd that will start on it, such as 3.6: data that it cannot read are refused',
);
export const encodingOptions = [
  option('--compression <kind>', 'of the stored snapshot')
    .choices([...compressions])
    .default('zstd'),
  ...recipientOptions,
  identityOption,
  option('--verify <level>', 'how far to verify what was stored, before it counts')
    .choices([...levels])
    .default('read'),
];
/** What a backup beside etcd says of its machine. */
export const hostOptions = [
  option('--node-name <name>', 'of this machine, kept in the manifest'),
  option('--etcd-manifest <file>', "of etcd's static pod: its image and flags are kept in the manifest"),
  option('--etcd-process', 'the same from the process: etcd is a service of this machine'),
  list(
    '--extra-path <path>',
    'a file or directory of this machine, such as /etc/kubernetes/pki, stored beside the snapshot',
  ),
  list('--extra-age-recipient <recipient>', 'encrypt those with age for this public key (default: as the snapshot)'),
];
export const nameOptions = [
  option('--file-name <pattern>', 'names of your own by time, such as orders-%Y%m%d-%H%M%S (without an ending)'),
  option('--file-name-time-zone <name>', 'of its %H and the like').default('UTC'),
];
export const peerTlsOption = option(
  '--peer-tls-dir <dir>',
  'ca.crt, tls.crt and tls.key that the members show each other',
);
export const idleOption = option('--idle-timeout <duration>', 'without a new byte of the snapshot').default('60s');
export const restoredFromOption = list(
  '--restored-from <cluster-id>',
  'etcd cluster id that this one was restored from by other means; its snapshots then age like its own',
);

export const controlPlaneOptions = [
  option('--plan', 'check all that can be checked, change nothing, and print the whole procedure'),
  option('--stop', 'only fetch and verify, and take API server and etcd out: first on all of several nodes'),
  option('--undo', 'put the old data and manifests back, until the new member has served'),
  option('--verify', 'afterwards: nodes, kube-system pods, component health, errors in the log of etcd'),
  option('--manifests-dir <dir>', 'the static Pods of the kubelet').default('/etc/kubernetes/manifests'),
  option('--journal-dir <dir>', 'where a dated folder keeps journal and manifests (default: beside --manifests-dir)'),
  option('--etcd-unit <file>', 'etcd is a systemd service: its unit, such as /etc/systemd/system/etcd.service'),
  option('--etcd-environment-file <file>', 'etcd is started with this file of ETCD_… variables'),
  option('--etcd-config-file <file>', 'etcd is started with this config file of its own'),
  option('--data-dir <dir>', 'which etcd process, when several run; or where the flags do not say'),
  option('--cert <file>', 'to ask this etcd how it is, when its own server certificate is none for clients'),
  option('--key <file>', 'PEM private key of --cert'),
  forceForeignOption,
  option(
    '--wait <duration>',
    'how long each wait may take: for processes to end, other nodes, health, all well with --verify',
  ).default('10m'),
  option('--image <name>', 'of the agent on the nodes, for --plan (default: what containerd has)'),
  option('--kubeconfig <file>', 'for --verify').default('/etc/kubernetes/admin.conf'),
  option('--etcd-log <file>', "for --verify: etcd's log (default: that of the static Pod)"),
];

export const memberOptions = (command: MemberCommand) =>
  flagsOf(command).map(({ name, value, description }) => option(`--${name} <${value}>`, description));
