import { pino } from 'pino';
import { AgentError, ExitCode, remarkOf } from '../../lib/errors.ts';
import type { Finding } from '../../lib/finding.ts';
import { advised, advising, said, spoken, told } from './advice.ts';

const place = { spec: { filesystem: { path: '/b' } }, store: { url: 'file:///b' }, cluster: 'orders' };
const same = '--store=file:///b --cluster=orders --namespace=';
const orphan = { kind: 'orphan', key: 'orders/x.db', manifest: 'missing' } as const;

test.each<[Finding, string]>([
  [
    {
      kind: 'all',
      findings: [
        { kind: 'short', limit: 'timeout' },
        { kind: 'mayBeNewer', newest: 'n' },
      ],
    },
    'allow more with --timeout; try again, or name a snapshot by its id, such as n',
  ],
  [{ kind: 'keyPair' }, 'pass --cert and --key, or neither'],
  [{ kind: 'unproved', id: 'x' }, `see \`etcd-agent show x ${same}\`, and run \`etcd-agent verify x ${same}\``],
  [{ kind: 'unknownId', id: 'x' }, `see \`etcd-agent list ${same}\``],
  [{ kind: 'noExtra' }, 'a backup stores them with --extra-path'],
  [{ kind: 'unnamedOwner' }, 'if it is, name its cluster with --cluster and --namespace; otherwise rename one of them'],
  [{ kind: 'otherDataDir', dataDir: '/d' }, 'name /d, which is that of --name'],
  [
    { kind: 'severalSources', settings: ['etcdUnit', 'etcdConfigFile'] },
    'choose one of --etcd-unit and --etcd-config-file',
  ],
  [{ kind: 'dataElsewhere' }, 'omit --data-dir, or correct the manifest'],
  [{ kind: 'undoAgain' }, 'stop it, then run --undo again'],
  [
    { kind: 'etcdutlMissing', isOptional: true },
    'install it from etcd 3.5 or newer (the newest is best), or name it with --etcdutl; backups work without it, --level=open and restores do not',
  ],
  [
    { kind: 'restoredAs', clusterId: 'c0', newest: 'c1' },
    'c0 was restored as c1, whose snapshots do not count here: if that etcd is the one that runs now, pass --cluster-id=c1',
  ],
  [
    { kind: 'otherEtcd', clusterId: 'c0' },
    'if it is another cluster, pass a --cluster or --namespace of its own; if it was restored from that one, and this store has no note of it (the restore used another store, or another tool), pass --restored-from=c0',
  ],
  [
    { kind: 'noDelete', key: 'orders/canary' },
    'backups work, but retention deletes nothing and leftovers stay; if these credentials are not meant to delete, run `prune` with others, and delete the test object orders/canary',
  ],
  [
    { kind: 'misplaced', misplaced: { cluster: 'pay', folder: 'a/pay', below: 'a' } },
    'it has snapshots of pay in the folder a/pay, so its path is too high: pass --store=file:///b/a --cluster=pay --namespace=',
  ],
  [
    { kind: 'payloadOwned', id: 'x', manifestKey: 'orders/x.json' },
    'orders/x.json names its payload: it is that of the snapshot x',
  ],
  [
    { kind: 'earlierFinding', id: 'x', state: 'stands' },
    `\`etcd-agent verify x --level=open ${same}\` replaces it if nothing is wrong, but has no HashKV to compare with`,
  ],
  [
    { kind: 'earlierFinding', id: 'x', objectKey: 'k/x.db', state: 'left' },
    `run \`etcd-agent verify --object-key=k/x.db --level=open ${same}\``,
  ],
  [
    { kind: 'notMounted', folders: ['/etc/systemd/system', '/run/systemd/system'] },
    'add --mount type=bind,src=/etc/systemd/system,dst=/etc/systemd/system,options=rbind:ro, and the same for the other, to the function that starts the agent',
  ],
  [{ kind: 'etcdProcess', isMissing: true }, 'start it, or pass --etcd-manifest if it is a static Pod'],
  [{ kind: 'foreign', isUnread: true }, 'try again, or pass --force-foreign to restore it anyway'],
  [
    { kind: 'leftOut', count: 2 },
    'stop the API server and etcd there, as --plan shows, or list all members in --initial-cluster and restore them too',
  ],
  [
    { kind: 'restoredOtherwise', id: 'x', bump: 7 },
    'it was not restored from x with --bump-revision=7, as this node was. On the nodes that took the wrong snapshot or number, go back with --undo, then restore what the others have',
  ],
  [
    { kind: 'undoUnsure', memberDir: '/d/member' },
    'to finish the restore, run the same command without --undo; to undo it all the same, move /d/member away, then run --undo again',
  ],
  [{ kind: 'short', limit: 'dialTimeout' }, 'allow more with --dial-timeout'],
  [{ kind: 'timedOut', isWaiting: false }, 'allow more with --timeout'],
  [{ kind: 'timedOut', isWaiting: true }, 'check that the store answers this, or allow more with --timeout'],
  [{ kind: 'severalFolders', namespaces: ['', 'prod'] }, 'pass --namespace= or --namespace=prod'],
  [
    { kind: 'severalFolders', namespaces: ['', 'orders'], tooDeep: 'orders' },
    'if orders is no namespace, a backup with a --store one folder too deep has made orders/orders; pass --namespace= or --namespace=orders',
  ],
  [
    { kind: 'elsewhere', folders: ['a (1)', 'b (2)'], isNamesake: true },
    'it has snapshots of a (1), b (2): check --namespace',
  ],
  [
    { kind: 'elsewhere', folders: ['a', 'b', 'c', 'd', 'e', 'f', 'g'], isNamesake: false },
    'it has snapshots of a, b, c, d, e and 2 more: check --cluster and --namespace',
  ],
  [
    { kind: 'heldBy', folder: 'shop/pay', cluster: 'pay', namespace: 'shop' },
    'shop/pay has it: pass --cluster=pay --namespace=shop',
  ],
  [{ kind: 'severalEtcds', isApart: false }, 'pass the --cluster-id of one of them, or name the snapshot'],
  [
    { kind: 'severalEtcds', isApart: true },
    'pass the --cluster-id of one of them, or name the snapshot; if one was restored from another, pass --restored-from to its next backup',
  ],
  [
    { kind: 'mayBeNewer', newest: 'n', clusterId: 'c0' },
    'try again, name a snapshot by its id, such as n, or pass its cluster with --cluster-id=c0',
  ],
  [{ kind: 'mayBeNewer', newest: 'n' }, 'try again, or name a snapshot by its id, such as n'],
  [{ kind: 'mayBeNewer' }, 'try again, or name a snapshot by its id'],
  [
    { kind: 'adoptedNewest', clusterId: 'c0' },
    'name one of them by its id, or pass --cluster-id=c0 for the newest of that etcd',
  ],
  [{ kind: 'unsure', clusterId: 'c0' }, 'name a snapshot by its id, or pass --cluster-id=c0'],
  [{ kind: 'listed' }, `see \`etcd-agent list ${same}\``],
  [
    { kind: 'listed', remedy: { kind: 'payloadMissing', manifestKey: 'orders/x.json', isExact: true } },
    `see \`etcd-agent list ${same}\`; delete orders/x.json`,
  ],
  [
    { kind: 'unclaimed', key: 'orders/my x.db' },
    `if it is a snapshot of this cluster, \`etcd-agent adopt 'orders/my x.db' ${same}\` makes it one`,
  ],
  [{ kind: 'findingDamaged', id: 'x' }, `\`etcd-agent verify x --level=open ${same}\` replaces it`],
  [
    { kind: 'findingDamaged', id: 'x', objectKey: 'k/x.db' },
    `\`etcd-agent verify --object-key=k/x.db --level=open ${same}\` replaces it`,
  ],
  [orphan, `if no backup is running, \`etcd-agent adopt orders/x.db ${same}\` writes one`],
  [
    { ...orphan, until: 'T' },
    `if no backup is running, \`etcd-agent adopt orders/x.db ${same} --backup-ended\` writes one`,
  ],
  [
    { ...orphan, until: 'T', isMarked: true },
    `wait until T; if it has no manifest then, \`etcd-agent adopt orders/x.db ${same}\` writes one; with --backup-ended it does so now, if no backup is running`,
  ],
  [
    { ...orphan, reservation: 'orders/x.reserved' },
    `if no backup is running, delete orders/x.reserved, and then \`etcd-agent adopt orders/x.db ${same}\` writes one`,
  ],
  [
    { ...orphan, manifest: 'damaged' },
    `if its payload is good, \`etcd-agent adopt orders/x.db ${same}\` replaces the manifest`,
  ],
  [
    { kind: 'mayRun', key: 'orders/x.db' },
    `if no backup is running, \`etcd-agent adopt orders/x.db ${same} --backup-ended\` adopts it now`,
  ],
  [
    { kind: 'restoredBefore', differs: [], isAlone: false, isRunning: false, byEtcd: false },
    'if its cluster still serves, remove this member there and add it again; or --again restores again and moves the present data aside',
  ],
  [
    {
      kind: 'restoredBefore',
      differs: [{ setting: 'initialCluster', was: 'a', now: undefined }],
      isAlone: true,
      isRunning: true,
      newToken: 't',
    },
    '--initial-cluster was a, and is not given; a running etcd uses it: stop that first; then --again with a new token, for example --initial-cluster-token=t, restores again and moves the present data aside',
  ],
  [
    { kind: 'wrongClock', several: true, bump: 7 },
    'set the clock, or pass the same number on all nodes: --bump-revision=7',
  ],
  [{ kind: 'wrongClock', several: false, bump: undefined }, 'set the clock, or remove it if it is damaged or forged'],
  [{ kind: 'lowBump', several: false, bump: 7 }, 'pass --bump-revision, for example 7'],
  [
    { kind: 'filesStored', id: 'x', nodeName: 'cp1', tar: '/e/extra.tar', files: ['/p/ca.crt'], create: 'kubeadm' },
    'restore the files that the backup holds (of cp1) and that all nodes share: etcd-agent restore extra x --to=/e/extra.tar, with the same --store, --cluster and --age-identity-file, then tar -xpf /e/extra.tar -C / -- p/ca.crt; create certificates with the existing CAs: kubeadm',
  ],
])('%j', (finding, sentence) => {
  expect(advised(finding, { place })).toBe(`; ${sentence}`);
});

test('an error is shown with its flag and with what to do, also if another one was made of it', () => {
  const error = new AgentError(ExitCode.usage, 'it is bad', { at: 'dataDir', finding: { kind: 'memberUnknown' } });
  expect(said(error)).toBe('--data-dir: it is bad; to replace them anyway, pass --force-foreign');
  const outer = new AgentError(ExitCode.refused, `x: ${error.message}`, { cause: error });
  expect(said(outer)).toBe('x: it is bad; to replace them anyway, pass --force-foreign');
  // Once is enough.
  expect(said(spoken(outer))).toBe(said(outer));
  expect(said(new Error('other'))).toBe('other');
});

test('a line of the log with a setting or a finding has its flag and what to do; another stays as it is', () => {
  const lines: object[] = [];
  const write = (line: string) => {
    const { level: _, time: __, pid: ___, hostname: ____, ...rest } = JSON.parse(line);
    lines.push(rest);
  };
  const log = advising(pino({ level: 'warn' }, { write }), () => ({ place }));
  log.warn({ store: 'file:///b', finding: { kind: 'unknownId', id: 'x' } }, 'gone');
  log.error({ at: 'dataDir', finding: undefined }, 'full');
  log.warn('plain');
  const child = log.child({ cluster: 'orders' });
  child.warn('of one cluster');
  child.error({ rule: 'r', at: 'dataDir' }, 'of a child');
  expect(lines).toEqual([
    { store: 'file:///b', msg: `gone; see \`etcd-agent list ${same}\`` },
    { msg: '--data-dir: full' },
    { msg: 'plain' },
    { cluster: 'orders', msg: 'of one cluster' },
    { cluster: 'orders', rule: 'r', msg: '--data-dir: of a child' },
  ]);
});

test('an error becomes a remark of the same sentence', () => {
  const error = new AgentError(ExitCode.usage, 'it is bad', { at: 'cert', finding: { kind: 'keyPair' } });
  expect(told(remarkOf(error))).toBe(said(error));
  expect(remarkOf(new Error('other'))).toEqual({ message: 'other' });
});
