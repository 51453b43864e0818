import { Option } from 'commander';
import { defaults } from '../../../../src/resource/defaults.ts';
import { compressions, levels } from '../../backup/catalog/manifest.ts';
import { flagsOf, type MemberCommand } from '../../member/member-config.ts';

const usual = defaults.BackupScheduleSpec;

// Options that several commands share.

const collect = (value: string, previous: string[] | undefined) => [...(previous ?? []), value];

/** Creates an option that can also be set by an environment variable ETCD_AGENT_*. */
export function option(flags: string, description: string): Option {
  const made = new Option(flags, description);
  return made.env(`ETCD_AGENT_${made.name().replaceAll('-', '_').toUpperCase()}`);
}

export const list = (flags: string, description: string) => option(flags, description).argParser(collect);

export const general = [
  option('-o, --output <format>', 'format of stdout: text for people, json for programs (one line)')
    .choices(['text', 'json'])
    .default('text'),
  option(
    '--config <file>',
    'YAML or JSON file with any of these settings; flags and environment variables take precedence',
  ),
];
export const storeOptions = [
  list(
    '--store <url|json>',
    'store of the snapshots: s3://bucket/prefix?region=…&endpoint=…, oss://bucket/prefix, sftp://user@host:port/dir?credentialsDirectory=…, file:///dir or exec:///dir, or the same as a JSON object; backup accepts several',
  ),
  option('--cluster <name>', 'name of the cluster that the snapshots belong to, for example orders'),
  option(
    '--namespace <name>',
    "the cluster's Kubernetes namespace; its folder in the store is NAMESPACE/CLUSTER, or CLUSTER without a namespace",
  ),
];
export const clusterIdOption = option(
  '--cluster-id <id>',
  'use only snapshots of this etcd cluster id, as shown by `list`, and of those that it was restored from; needed only if several etcd clusters share the folder',
);
export const cacertOption = option(
  '--cacert <file>',
  "PEM file with the certificate authorities of etcd's server certificates; a `ca.crl` beside it lists what is revoked",
);
export const etcdOptions = [
  list(
    '--endpoints <urls>',
    'comma-separated etcd endpoints to start from, for example 10.0.0.1:2379; the other members are found from there',
  ),
  cacertOption,
  option('--cert <file>', 'PEM file with the client certificate'),
  option('--key <file>', 'PEM file with the private key of --cert'),
  option('--user <name>', 'etcd user with the root role, if authentication is enabled'),
  option('--user-file <file>', 'file with the name for --user'),
  option('--password-file <file>', "file with the user's password"),
  option('--dial-timeout <duration>', 'time limit for a connection and for each short call').default(usual.dialTimeout),
];
export const timeoutOption = option(
  '--timeout <duration>',
  'time limit for the whole run, for example 10m (default: 60s for each store, plus 1s for each MiB that is read or written)',
);
export const runOptions = [
  timeoutOption,
  option(
    '--scratch <dir>',
    'directory for a copy of the database when it is opened (default: the system’s temporary directory)',
  ),
  option('--etcdutl <file>', 'path of etcdutl, etcd’s offline tool').default('etcdutl'),
];
export const retentionOption = option(
  '--retention <rules>',
  'which snapshots to keep: last=3,within=30d,hourly=24,daily=7,weekly=4,monthly=12,yearly=3,minKeep=3,timeZone=UTC; applies to stores without rules of their own (default: nothing is deleted)',
);
export const sha256Option = option('--sha256 <hex>', 'expected SHA-256 of the plain snapshot, 64 hex digits');
export const keyOption = option(
  '--object-key <key>',
  'key of the snapshot below the store, also that of an export; `backup` exports to it, and retention keeps the newest snapshot under it',
);
export const recipientOptions = [
  list(
    '--age-recipient <recipient>',
    'encrypt the snapshot with age for this public key (age1…); repeat the flag for several recipients, each of which can decrypt it',
  ),
  list('--age-recipients-file <file>', 'file with such public keys, one per line'),
];
export const identityOption = list(
  '--age-identity-file <file>',
  'file with age identities (secret keys, AGE-SECRET-KEY-…) to decrypt with, one per line, or a directory of such files',
);
export const sweepOption = option(
  '--sweep-age <duration>',
  'remove leftovers of dead runs that are older than this',
).default('24h');
export const keepOption = option(
  '--keep-file <file>',
  'file with the ids of snapshots that retention keeps whatever its rules say, one per line',
);
export const forceOption = option(
  '--force',
  'allow one run to delete more than 10 snapshots, or more than a quarter of them if that is more',
);
export const metricsOption = option(
  '--metrics-file <file>',
  'also write Prometheus metrics of this run to a file for node_exporter’s textfile collector (name it *.prom)',
);
export const beforeOption = option(
  '--latest-verified-before <time>',
  'use the newest verified snapshot from before this time, for example 2026-11-21T02:30:00Z',
);
export const adoptOption = option(
  '--adopt',
  'if --object-key has no manifest, check the file and create a manifest before continuing',
);
export const forceForeignOption = option(
  '--force-foreign',
  "accept a snapshot although the data here belongs, or may belong, to another cluster or member, or adopt a file in another cluster's folder",
);
export const forceFailedOption = option(
  '--force-failed',
  'restore the snapshot although it is suspect, `verify` found it bad, or the result of `verify` cannot be read',
);
export const serverVersionOption = option(
  '--server-version <minor>',
  'minor version of the etcd that will start with the data, for example 3.6; data that it cannot read is refused',
);
export const acceptAuthenticationOption = option(
  '--accept-authentication',
  "serve the snapshot although authentication is enabled in it: the cluster's reconciler has the certificate of root",
);
export const encodingOptions = [
  option('--compression <kind>', 'compression of the stored snapshot')
    .choices([...compressions])
    .default(usual.compression),
  ...recipientOptions,
  identityOption,
  option('--verify <level>', 'how thoroughly to verify the stored snapshot before it counts')
    .choices([...levels])
    .default(usual.verify),
];
/** Facts about the machine of etcd for the manifest of a backup. */
export const hostOptions = [
  option('--node-name <name>', 'name of this machine, recorded in the manifest'),
  option(
    '--etcd-manifest <file>',
    "file of etcd's static Pod; its image and flags are recorded in the manifest of the snapshot",
  ),
  option(
    '--etcd-process',
    "record the flags of this machine's etcd process in the manifest, if etcd is a service of this machine",
  ),
  list(
    '--extra-path <path>',
    'file or directory of this machine to store beside the snapshot, for example /etc/kubernetes/pki',
  ),
  list(
    '--extra-age-recipient <recipient>',
    'encrypt the --extra-path files with age for this public key (default: the recipients of the snapshot)',
  ),
];
export const nameOptions = [
  option(
    '--file-name <pattern>',
    'pattern for names of exports by time, for example orders-%Y%m%d-%H%M%S (without an extension)',
  ),
  option('--file-name-time-zone <name>', 'time zone of --file-name, for example Europe/Berlin').default('UTC'),
];
export const peerTlsOption = option(
  '--peer-tls-dir <dir>',
  'directory with ca.crt, tls.crt and tls.key that the members use among themselves',
);
export const idleOption = option(
  '--idle-timeout <duration>',
  'longest time without a new byte of the snapshot',
).default('60s');
export const restoredFromOption = list(
  '--restored-from <cluster-id>',
  "etcd cluster id that this cluster was restored from, if the store has no note of it: the restore used another store or another tool; retention treats its snapshots like this cluster's own",
);

export const dataDirOptions = [
  option('--data-dir <dir>', 'data directory to create; an existing one is renamed, not deleted'),
  option('--name <name>', 'name of the member').default('default'),
  option(
    '--initial-cluster <list>',
    'name=peer-url of every member, comma-separated (default: only this member, if the snapshot is of a single one)',
  ),
  option('--initial-advertise-peer-urls <urls>', 'peer URLs of this member').default('http://localhost:2380'),
  option(
    '--initial-cluster-token <token>',
    'cluster token: a new one, the same for all members (default for one member: random)',
  ),
  option(
    '--bump-revision <n>',
    'number to add to the revision, so that watchers notice the restore; 0: none (default: so many that the first revision is the time in microseconds)',
  ),
  option('--again', 'restore once more over an earlier restore; the existing data is renamed'),
  option(
    '--once',
    'do nothing if this directory was restored before, even if etcd has written to it: for an init container',
  ),
];
export const controlPlaneOptions = [
  option('--plan', 'check everything that can be checked, change nothing, and print the whole procedure'),
  option(
    '--stop',
    'only fetch and verify the snapshot, then stop API server and etcd; with several nodes, do this on all of them first',
  ),
  option('--undo', 'put the old data and manifests back; possible until the new member has served'),
  option(
    '--check',
    'after the restore: check nodes, kube-system pods, component health, and the log of etcd for errors',
  ),
  option('--manifests-dir <dir>', "the kubelet's directory of static Pods").default('/etc/kubernetes/manifests'),
  option(
    '--journal-dir <dir>',
    'directory in which a dated folder keeps the journal and the manifests (default: beside --manifests-dir)',
  ),
  option('--etcd-unit <file>', 'unit file, if etcd is a systemd service, for example /etc/systemd/system/etcd.service'),
  option('--etcd-environment-file <file>', 'file of ETCD_… variables, if etcd is started with one'),
  option('--etcd-config-file <file>', 'config file of etcd, if etcd is started with one'),
  option(
    '--data-dir <dir>',
    "etcd's data directory: selects one of several etcd processes, or supplies what etcd's flags do not say",
  ),
  option(
    '--cert <file>',
    'PEM file with a client certificate for this etcd, if its own server certificate cannot be used by clients',
  ),
  option('--key <file>', 'PEM file with the private key of --cert'),
  forceForeignOption,
  option(
    '--wait <duration>',
    'time limit of each wait: for processes to end, for other nodes, for health, and for --check to find no problem',
  ).default('10m'),
  option('--image <name>', "the agent's image on the nodes, for --plan (default: the one that containerd has)"),
  option('--kubeconfig <file>', 'kubeconfig for --check').default('/etc/kubernetes/admin.conf'),
  option('--etcd-log <file>', "etcd's log for --check (default: the log of the static Pod)"),
  option(
    '--initial-cluster <list>',
    'name=peer-url of every member, comma-separated (default: the members in the snapshot)',
  ),
  option(
    '--initial-cluster-token <token>',
    'cluster token, the same for all members (default: derived from the snapshot and --bump-revision)',
  ),
  option(
    '--bump-revision <n>',
    'number to add to the revision of the snapshot, the same for all members (default: so many that the first revision is the time in microseconds)',
  ),
];

export const memberOptions = (command: MemberCommand) =>
  flagsOf(command).map(({ name, value, description }) => option(`--${name} <${value}>`, description));
