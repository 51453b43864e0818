import { AgentError, remarkOf, type Warn } from '../../lib/errors.ts';
import type { Finding, Remark } from '../../lib/finding.ts';
import type { Log } from '../../lib/log.ts';
import { quoted } from '../../lib/quoted.ts';
import { adoptCommand, commandFor, type KnownPlace, listCommand, verifyCommand } from './adopt.ts';
import { flagOf } from './flag-of.ts';
import { namedFlags, raised } from './flags.ts';
import { misplacedText } from './misplaced.ts';

type Kind = Finding['kind'];
type Of<K, F = Finding> = F extends { readonly kind: infer Kinds } ? (K extends Kinds ? F : never) : never;
type Sentence<K> = string | ((finding: Of<K>, known: KnownPlace) => string);

const TO_RESTORED = 'pass --restored-from to its next backup';
const NO_NOTE = '(the restore used another store, or another tool)';
const HOW_STARTED = '--etcd-unit, --etcd-environment-file or --etcd-config-file';

/** What to do about each finding. Empty if nothing is to be done. */
const sentences: { readonly [K in Kind]: Sentence<K> } = {
  all: ({ findings }, known) =>
    findings
      .map((each) => advised(each, known).slice(2))
      .filter((text) => text !== '')
      .join('; '),

  // etcd
  unknownAuthority: 'pass its CA with --cacert',
  certificateExpired: 'renew --cert',
  certificateMissing: 'pass --cert and --key',
  keyPair: 'pass --cert and --key, or neither',
  handshakeRefused: 'check --cert, --key and --cacert',
  noTls: 'write http:// or check the port',
  closedTls: 'if it uses plain http, write http://',
  userMissing: 'pass --user and --password-file',
  userRefused: 'check --user and --password-file',
  userInEndpoint: 'use --user and --password-file instead',
  notRoot: "a snapshot needs a user with the root role, by --user or by the client certificate's name",
  closedPlainly:
    'if it uses TLS, write https:// and pass --cacert; if this is its port for peers (usually 2380), use that for clients (2379)',
  unknownHost: 'check --endpoints and, for a member of an EtcdCluster, that its pod is ready',
  foreignAddress: 'name its address in --endpoints, or fix its --advertise-client-urls',
  learnersOnly: 'name a voting member in --endpoints',
  noQuorum: 'to save the data of a surviving member, use --survivor ENDPOINT',
  nearlyFull: 'compact and defragment, or raise --quota-backend-bytes',
  etcdutlMissing: ({ isOptional }) =>
    `install it from etcd 3.5 or newer (the newest is best), or name it with --etcdutl${isOptional ? '; backups work without it, --level=open and restores do not' : ''}`,
  etcdutlUnknown: 'name another one with --etcdutl',

  // time
  short: ({ limit }) => `allow more with ${flagOf(limit)}`,
  timedOut: ({ isWaiting }) => `${isWaiting ? 'check that the store answers this, or ' : ''}allow more with --timeout`,
  slowStore: 'raise --timeout, or remove this store',

  // stores and folders
  wrongStore: 'check --store',
  noDirectory: 'check --store, or take a first backup, which creates it',
  newDirectory: 'if --store is mistyped, remove it',
  namespaceUnknown: 'pass --namespace, or --namespace= for none',
  namespaceUnchecked: 'pass --namespace',
  severalFolders: ({ namespaces, tooDeep }) =>
    `${tooDeep === undefined ? '' : `if ${tooDeep} is no namespace, a backup with a --store one folder too deep has made ${tooDeep}/${tooDeep}; `}pass ${namespaces.map((each) => `--namespace=${each}`).join(' or ')}`,
  elsewhere: ({ folders, isNamesake }) =>
    `it has snapshots of ${some(folders)}: check ${isNamesake ? '--namespace' : '--cluster and --namespace'}`,
  heldBy: ({ folder, ...named }) => `${folder} has it: pass ${namedFlags(named)}`,
  misplaced: ({ misplaced }, { place }) => (place && misplacedText(misplaced, place.spec)) ?? '',
  severalEtcds: ({ isApart }) =>
    `pass the --cluster-id of one of them, or name the snapshot${isApart ? `; if one was restored from another, ${TO_RESTORED}` : ''}`,
  otherEtcd: ({ clusterId }) =>
    `if it is another cluster, pass a --cluster or --namespace of its own; if it was restored from that one, and this store has no note of it ${NO_NOTE}, pass --restored-from=${clusterId}`,
  otherEtcdInCopy: `if it is another cluster, name a --to of its own; if one was restored from the other, and neither store has a note of it ${NO_NOTE}, pass --restored-from to the next backup, and copy that too`,
  mixedEtcds: `back up each to a --cluster or --namespace of its own, or, if one was restored from another, ${TO_RESTORED}`,
  readOnly:
    'a backup cannot store anything here; if these credentials are meant to read only, `list`, `show`, `status` and restores work, and `verify` works but cannot record what it finds',
  noDelete: ({ key }) =>
    `backups work, but retention deletes nothing and leftovers stay; if these credentials are not meant to delete, run \`prune\` with others, and delete the test object ${key}`,

  // which snapshot
  adoptedNewest: ({ clusterId }) =>
    `name one of them by its id${clusterId === undefined ? '' : `, or pass --cluster-id=${clusterId} for the newest of that etcd`}`,
  unsure: ({ clusterId }) => `name a snapshot by its id, or pass --cluster-id=${clusterId}`,
  restoredAs: ({ clusterId, newest }) =>
    `${clusterId} was restored as ${newest}, whose snapshots do not count here: if that etcd is the one that runs now, pass --cluster-id=${newest}`,
  mayBeNewer: ({ newest, clusterId }) => {
    const byId = `name a snapshot by its id${newest === undefined ? '' : `, such as ${newest}`}`;
    return `try again, ${clusterId === undefined ? `or ${byId}` : `${byId}, or pass its cluster with --cluster-id=${clusterId}`}`;
  },
  listed: ({ remedy }, known) => `see ${listCommand(known)}${advised(remedy, known)}`,
  unknownId: (_, known) => `see ${listCommand(known)}`,
  unproved: ({ id }, known) => `see ${commandFor(known, 'show', id)}, and run ${commandFor(known, 'verify', id)}`,
  unclaimed: ({ key }, known) => `if it is a snapshot of this cluster, ${adoptCommand(known, [key])} makes it one`,

  // how a snapshot becomes one again
  findingDamaged: ({ id, objectKey }, known) =>
    `${verifyCommand(known, objectKey === undefined ? id : `--object-key=${objectKey}`)} replaces it`,
  payloadMissing: ({ manifestKey, isExact }) =>
    // `copy` takes only those in the folder.
    `${isExact ? '' : 'to keep it, copy it here again with `etcd-agent copy` from a store that has it; otherwise '}delete ${manifestKey}`,
  payloadOwned: ({ id, manifestKey }) => `${manifestKey} names its payload: it is that of the snapshot ${id}`,
  orphan: ({ key, manifest, until, isMarked, reservation }, known) => {
    const adopt = adoptCommand(known, [key]);
    if (manifest === 'ofAnother') return `if another snapshot was stored in its place, ${adopt} writes a new manifest`;
    if (manifest === 'damaged') return `if its payload is good, ${adopt} replaces the manifest`;
    const over = 'if no backup is running';
    const wait = `wait until ${until}; if it has no manifest then`;
    if (reservation !== undefined) return `${until ? wait : over}, delete ${reservation}, and then ${adopt} writes one`;
    if (until && !isMarked) return `${over}, ${adoptCommand(known, [key], ['--backup-ended'])} writes one`;
    return until
      ? `${wait}, ${adopt} writes one; with --backup-ended it does so now, ${over}`
      : `${over}, ${adopt} writes one`;
  },

  // how a snapshot is stored
  keyTaken: 'name another key, or replace it with --overwrite',
  plaintext: 'pass --age-recipient to encrypt it too',
  markerMissing: '`verify` fails until you adopt or delete it',
  markerLeft:
    'the next `backup` or `prune` removes it once it is older than --sweep-age, if the store lets it; otherwise delete it',

  // what is adopted
  unnamedOwner: 'if it is, name its cluster with --cluster and --namespace; otherwise rename one of them',
  amongOthers: 'name that cluster with --cluster and --namespace, or pass --force-foreign',
  mayRun: ({ key }, known) =>
    `if no backup is running, ${adoptCommand(known, [key], ['--backup-ended'])} adopts it now`,
  earlierFinding: ({ id, objectKey, state }, known) => {
    const verify = verifyCommand(known, objectKey === undefined ? id : `--object-key=${objectKey}`);
    if (state === 'left') return `run ${verify}`;
    return `${verify} replaces it if nothing is wrong${state === 'stands' ? ', but has no HashKV to compare with' : ''}`;
  },

  // what is restored, and over which data
  noExtra: 'a backup stores them with --extra-path',
  authEnabled:
    'give it one, wait until TransportReady has the reason Tls, or restore it by hand (restore data-dir), run `etcdctl auth disable` there, and restore a snapshot of the result',
  highestRevision: 'use a snapshot or a --bump-revision with a lower number',
  memberUnknown: 'to replace them anyway, pass --force-foreign',
  markerUnreadable: '--again restores again and moves the present data aside',
  otherDataDir: ({ dataDir }) => `name ${dataDir}, which is that of --name`,
  separateLog: ({ dataDir }) =>
    `an etcd with --wal-dir leaves it so: move ${dataDir} and the folder of --wal-dir away, restore again, and start etcd without --wal-dir`,
  restoredBefore: ({ differs, isAlone, isRunning, byEtcd, newToken }) => {
    const renewed = isAlone ? 'a new token' : 'the same new token for all members';
    const withToken =
      newToken === undefined ? '' : ` with ${renewed}, for example --initial-cluster-token=${newToken},`;
    const again = `--again${withToken} restores again and moves the present data aside`;
    const how =
      byEtcd === true
        ? `${again}; --once leaves it as it is, for a command that runs at every start`
        : isAlone || byEtcd === undefined
          ? again
          : `${REPLACE_MEMBER}; or ${again}`;
    const running = isRunning ? ['a running etcd uses it: stop that first; then '] : [''];
    const settings = differs.map(
      ({ setting, was, now }) => `${settingText(setting)} was ${was ?? 'not given'}, and is ${now ?? 'not given'}`,
    );
    return [...settings, `${running}${how}`].join('; ');
  },

  // the node of a control plane
  severalSources: ({ settings }) => `choose one of ${settings.map(flagOf).join(' and ')}`,
  dataElsewhere: 'omit --data-dir, or correct the manifest',
  unitUnreadable: 'omit --etcd-unit while etcd runs, or pass --etcd-environment-file or --etcd-config-file',
  externalEtcd: 'name how etcd is started there with --etcd-unit or another flag',
  noProcess: `pass --manifests-dir, or say how etcd is started with ${HOW_STARTED}`,
  severalProcesses: 'select one with --data-dir',
  otherManifestsDir: "pass --manifests-dir with the kubelet's folder",
  noManifest: 'see --manifests-dir',
  configUnread: 'pass --etcd-config-file',
  dataDirUnknown: 'pass --data-dir',
  ownProcesses: 'run it with hostPID: true (ctr run: --with-ns pid:/proc/1/ns/pid)',
  notMounted: ({ folders: [first, ...more] }) =>
    `add --mount type=bind,src=${first},dst=${first},options=rbind:ro${more.length > 0 ? ', and the same for the other,' : ''} to the function that starts the agent`,
  etcdProcess: ({ isMissing }) =>
    `${isMissing ? 'start it' : 'stop all but one'}, or pass --etcd-manifest if it is a static Pod`,
  filesStored: ({ id, nodeName, tar, files, create }) => {
    const members = files.map((file) => quoted(file.slice(1))).join(' ');
    return `restore the files that the backup holds${nodeName ? ` (of ${nodeName})` : ''} and that all nodes share: etcd-agent restore extra ${quoted(id)} --to=${quoted(tar)}, with the same --store, --cluster and --age-identity-file, then tar -xpf ${quoted(tar)} -C / -- ${members}; create certificates with the existing CAs: ${create}`;
  },

  // the restore of a control plane
  sameAgain: 'to restore it again, pass the same larger --bump-revision on all nodes',
  notStopped: 'stop it, or allow more time with --wait',
  undoAgain: 'stop it, then run --undo again',
  otherLog: 'go back with --undo',
  servesOld:
    'if it has a quorum without this node, go back with --undo and replace only this member, as --plan says. To give up its data, run this command there too, with the same snapshot and --bump-revision, then run this command here again',
  newMachines: 'for new machines, pass --initial-cluster',
  foreign: ({ isUnread }) =>
    isUnread ? 'try again, or pass --force-foreign to restore it anyway' : 'to restore it anyway, pass --force-foreign',
  leftOut: ({ count }) =>
    `stop the API server and etcd there, as --plan shows, or list all members in --initial-cluster and restore ${count === 1 ? 'it' : 'them'} too`,
  wrongClock: ({ several, bump }) =>
    `set the clock, or ${bump === undefined ? 'remove it if it is damaged or forged' : `${raised(several)}=${bump}`}`,
  lowBump: ({ several, bump }) => `${raised(several)}, for example ${bump}`,
  restoredOtherwise: ({ id, bump }) =>
    `it was not restored from ${id} with --bump-revision=${bump}, as this node was. On the nodes that took the wrong snapshot or number, go back with --undo, then restore what the others have`,
  undoUnsure: ({ memberDir }) =>
    `to finish the restore, run the same command without --undo; to undo it all the same, move ${memberDir} away, then run --undo again`,
  membersRemoved: ({ manifests, manifestsDir, folder }) =>
    `something such as --force-new-cluster has removed what else was restored: remove that flag, move the manifests in ${manifests} to ${manifestsDir} and ${folder} elsewhere, then restore again on all nodes, with the same larger --bump-revision. If the members were removed on purpose, move only the manifests and ${folder}`,
};

/** A member that has served and lost its data must not vote again: it may have forgotten entries that it acknowledged. */
const REPLACE_MEMBER = 'if its cluster still serves, remove this member there and add it again';

const settingText = (setting: string): string =>
  setting === 'id' ? 'the snapshot' : setting === 'sha256' ? 'its sha256' : flagOf(setting);

/** Names in one sentence. */
const SHOWN = 5;

const some = (names: readonly string[]): string =>
  `${names.slice(0, SHOWN).join(', ')}${names.length > SHOWN ? ` and ${names.length - SHOWN} more` : ''}`;

/** Says what to do, to follow a sentence. Empty without a finding. */
export function advised(finding: Finding | undefined, known: KnownPlace = {}): string {
  if (!finding) return '';
  const sentence = sentences[finding.kind] as Sentence<Kind>;
  const text = typeof sentence === 'string' ? sentence : sentence(finding as never, known);
  return text && `; ${text}`;
}

/** A remark in one line: the flag that is wrong, what is wrong, and what to do. */
export const told = ({ message, at, finding }: Remark, known: KnownPlace = {}): string =>
  `${at === undefined ? '' : `${flagOf(at)}: `}${message}${advised(finding, known)}`;

/** The same of any thrown value. */
export const said = (error: unknown, known: KnownPlace = {}): string => told(remarkOf(error), known);

/** The same error with everything in its message. */
export const spoken = (error: AgentError, known: KnownPlace = {}): AgentError =>
  error.at === undefined && !error.finding ? error : new AgentError(error.exitCode, said(error, known));

/** Logs warnings with what to do. */
export const warner =
  (log: Log, known: KnownPlace = {}): Warn =>
  (message, finding) =>
    log.warn(`${message}${advised(finding, known)}`);

/** A log that adds to a line with a setting or a finding which flag is wrong, and what to do. `known`: what is known of the store in a line. */
export function advising(log: Log, known: (store?: string) => KnownPlace = () => ({})): Log {
  const at = (level: 'warn' | 'error') => {
    const write = log[level] as (this: Log, first: object, ...rest: unknown[]) => void;
    // `this`: a child inherits the method, and has bindings of its own.
    return function (this: Log, first: object, ...rest: unknown[]): void {
      if (typeof first !== 'object' || first === null || !('finding' in first || 'at' in first)) {
        write.call(this, first, ...rest);
        return;
      }
      const { at, finding, ...bindings } = first as Partial<Remark> & { readonly store?: string };
      write.call(this, bindings, told({ message: `${rest[0]}`, at, finding }, known(bindings.store)));
    };
  };
  return Object.assign(Object.create(log) as Log, { warn: at('warn'), error: at('error') });
}
