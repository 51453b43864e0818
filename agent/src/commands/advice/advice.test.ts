import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { Finding } from '../../lib/finding.ts';
import { advised, said, spoken } from './advice.ts';

const place = { spec: { filesystem: { path: '/b' } }, store: { url: 'file:///b' }, cluster: 'orders' };
const same = '--store=file:///b --cluster=orders --namespace=';
const orphan = { kind: 'orphan', key: 'orders/x.db', manifest: 'missing' } as const;

test.each<[Finding, string]>([
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
  [
    { kind: 'wrongClock', several: false, bump: undefined },
    'set the clock, or remove it if it is damaged or forged',
  ],
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
