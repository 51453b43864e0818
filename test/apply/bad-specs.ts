// Specs that the rules about several fields refuse, and their messages.
import type { Manifest } from '../synth';
import { around, backup, backupSchedule, cluster, reconciler, restore, user } from './good';

type Case = readonly [what: string, manifest: Manifest, says: string];

const ownAccount = { serviceAccountName: 'own', serviceAccountAnnotations: {} };
const secret = { secretName: 'store' };
const bucket = { s3: { bucket: 'backups' } };
const s3 = (more: Manifest) => ({ s3: { bucket: 'backups', ...more } });
const oneStore = 'give exactly one of s3, oss, sftp, filesystem, command';
const oneFiles = 'give exactly one of secretName and configMapName';

const storeCases: readonly (readonly [what: string, store: Manifest, says: string])[] = [
  ['no store', {}, oneStore],
  ['two stores', { ...bucket, oss: { bucket: 'backups', credentials: secret } }, oneStore],
  ['a CA from nowhere', s3({ ca: { items: [{ key: 'a', path: 'ca.crt' }] } }), oneFiles],
  ['a CA from two places', s3({ ca: { ...secret, configMapName: 'ca' } }), oneFiles],
  ['a CA of OSS from nowhere', { oss: { bucket: 'backups', credentials: secret, ca: {} } }, oneFiles],
  [
    'credentials in the endpoint',
    s3({ endpoint: 'https://me:pass@minio' }),
    'endpoint is not a valid S3 server: write https://',
  ],
  ['a path in the endpoint', s3({ endpoint: 'https://minio/bucket' }), 'without user, password or path'],
  [
    'a KMS key without KMS',
    s3({ kmsKeyId: 'k', serverSideEncryption: 'AES256' }),
    'kmsKeyId needs serverSideEncryption',
  ],
  [
    'SSE-C and SSE-S3',
    s3({ sseCustomerKey: secret, serverSideEncryption: 'AES256' }),
    'sseCustomerKey cannot be combined with serverSideEncryption',
  ],
  [
    'SSE-C without TLS',
    s3({ sseCustomerKey: secret, endpoint: 'http://minio' }),
    'would cross the network in plain text',
  ],
  ['a CA without TLS', s3({ ca: secret, endpoint: 'http://minio' }), 'ca has no effect with http://: write https://'],
  [
    'an unknown file of S3',
    s3({ credentials: { ...secret, items: [{ key: 'a', path: 'password' }] } }),
    'items has a file that is not used: write one of AWS_ACCESS_KEY_ID',
  ],
  [
    'half of the access key of S3',
    s3({ credentials: { ...secret, items: [{ key: 'a', path: 'AWS_ACCESS_KEY_ID' }] } }),
    'items lacks a file: give AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  ],
  ...['sseCustomerKey', 'ca'].map(
    (field) =>
      [
        `an unknown file of ${field}`,
        s3({ [field]: { ...secret, items: [{ key: 'a', path: 'b' }] } }),
        'items',
      ] as const,
  ),
  ...['lacks', 'has'].flatMap((what) =>
    ['oss', 'sftp'].map(
      (kind) =>
        [
          `${what}: items of ${kind}`,
          {
            [kind]: {
              ...(kind === 'oss'
                ? { bucket: 'backups', ca: { ...secret, items: [{ key: 'a', path: 'b' }] } }
                : { host: 'h' }),
              credentials: { ...secret, items: [{ key: 'a', path: 'none' }] },
            },
          },
          kind === 'sftp' ? 'items has a file that is not used' : `items ${what}`,
        ] as const,
    ),
  ),
  ['no volume', { filesystem: {} }, 'give exactly one of persistentVolumeClaim'],
  [
    'two volumes',
    { filesystem: { persistentVolumeClaim: { claimName: 'a' }, nfs: { server: 'b', path: '/c' } } },
    'give exactly one of persistentVolumeClaim',
  ],
  ['a variable that no shell knows', { command: { path: '/a', env: { 'A-B': 'c' } } }, "use letters, digits and '_'"],
];

const opening = (quota: string, resources?: Manifest) =>
  cluster({
    quota,
    storage: { size: '100Gi' },
    resources: { limits: { memory: '16Gi' } },
    backup: { schedules: [{ name: 'a', cron: '@daily', verify: 'open', stores: [bucket], resources }] },
  });

const onlyFile = (path: string) => ({ secretName: 'a', items: [{ key: 'a', path }] });
const filesOf = (files: Manifest) => ({ secretName: 'a', items: [{ key: 'a', path: 'b' }], ...files });

/** Limits that contradict each other. */
const contradictions: readonly Case[] = [
  ...[{ quota: '4Gi' }, { quota: '3584.01Mi' }, { quota: '10Gi', storage: { size: '20Gi' } }].map(
    (spec): Case => [
      `a quota of ${spec.quota} for a smaller volume`,
      cluster({ resources: { limits: { memory: '8Gi' } }, ...spec }),
      'quota needs a volume of twice its size and 1Gi: make storage.size larger, or quota smaller',
    ],
  ),
  ...[
    { resources: { limits: { memory: '895Mi' } } },
    { resources: { requests: { memory: '895Mi' } } },
    { storage: { size: '17Gi' }, resources: { limits: { memory: '2047Mi' } } },
    { storage: { size: '100Gi' }, quota: '8193Mi' },
    { quota: '1Gi', resources: { limits: { memory: '255Mi' } } },
  ].map(
    (spec): Case => [
      `less memory than the quota needs: ${JSON.stringify(spec)}`,
      cluster(spec),
      'the limit of memory is below a quarter of the quota',
    ],
  ),
  ...[
    opening('8193Mi'),
    opening('8Gi', { limits: { memory: '1023Mi' } }),
    opening('16Gi', { requests: { memory: '2047Mi' } }),
  ].map(
    (manifest, index): Case => [
      `verify: open without the memory for it, ${index}`,
      manifest,
      'a schedule with verify: open needs a limit of memory of at least an eighth of the quota',
    ],
  ),
];

const gate = (resources: Manifest) => cluster({ containers: { gate: { resources } } });
const together: readonly Case[] = [
  ...[gate({ limits: { memory: '895Mi' } }), gate({ requests: { memory: '895Mi' } })].map(
    (manifest, index): Case => [
      `less memory of the gate than the quota needs, ${index}`,
      manifest,
      'the limit of memory of the gate, which restores, is below a quarter of the quota',
    ],
  ),
  ...[
    { heartbeatInterval: '201ms' },
    { electionTimeout: '499ms' },
    { heartbeatInterval: '1s', electionTimeout: '50.1s' },
    { electionTimeout: '1d' },
  ].map(
    (tuning): Case => [
      `times that etcd does not take: ${JSON.stringify(tuning)}`,
      cluster({ tuning }),
      'electionTimeout must be at least five times heartbeatInterval, and at most 50s',
    ],
  ),
  [
    'a CronJob with a long name',
    {
      ...cluster({ backup: { schedules: [{ name: 's'.repeat(12), cron: '@daily', stores: [bucket] }] } }),
      metadata: { name: 'o'.repeat(40) },
    },
    'the name of a CronJob, <cluster>-<schedule>, has more than 52 characters',
  ],
];

const inStores: readonly Case[] = Object.entries(around).flatMap(([place, { manifest }]) =>
  storeCases.map(([what, store, says]): Case => [`${place}: ${what}`, manifest(store), says]),
);

const members = { peerSecret: 'own-peer', serverSecret: 'own-server', clientSecret: 'own-client' };
const made = { peerSecret: 'peer', serverSecret: 'server', clientSecret: 'client' };
const managed = { peerAuthority: 'peer-ca', clientAuthority: 'client-ca' };
const certManager = { issuer: 'ca' };
const otherSource = { trustSecret: 'trust', ...made, managed };
const bothManaged = { ...members, managed: { peerAuthority: 'a', clientAuthority: 'b' }, alsoTrust: otherSource };
const trusting = (other: Manifest) => cluster({ tls: { ...members, alsoTrust: { ...otherSource, ...other } } });

const bad = { team: 'a b' };
const badPeers = [{ podLabels: bad }, { namespaceLabels: bad }, { cidr: '10.0.0.0' }, { namespace: 'A' }];
const twoNamespaces = { namespace: 'a', namespaceLabels: {} };

const needsImage = 'a command store needs image: give an image with its executables and the agent';
const command = { command: { path: '/opt/store' } };

const scheduled = (more: Manifest, others: Manifest = {}) =>
  cluster({ backup: { schedules: [{ name: 'hourly', cron: '@hourly', stores: [bucket], ...more }], ...others } });
const encrypting = {
  name: 'hourly',
  cron: '@hourly',
  stores: [bucket],
  encryption: { age: { recipients: ['age1a'] } },
};
const withoutImage: readonly Case[] = [
  ['a schedule with a command store alone', scheduled({ stores: [bucket, command] }), needsImage],
  ['an origin with a command store alone', cluster({ origin: { source: { store: command, key: 'a' } } }), needsImage],
  ['an EtcdBackup with a command store alone', backup({ clusterName: 'orders', store: command }), needsImage],
  ['an EtcdRestore with a command store alone', restore({ source: { store: command, key: 'a' } }), needsImage],
];

const oneSource = 'give exactly one of backupName and store';
const oneOfStore = 'store needs exactly one of snapshotId, key, latestVerifiedBefore, and backupName none of them';
const sources: readonly (readonly [what: string, source: Manifest, says: string])[] = [
  ['no source', {}, oneSource],
  ['two sources', { backupName: 'a', store: bucket, key: 'b' }, oneSource],
  ['a store alone', { store: bucket }, oneOfStore],
  ['two snapshots', { store: bucket, key: 'a', snapshotId: 'b' }, oneOfStore],
  ['a key beside an EtcdBackup', { backupName: 'a', key: 'b' }, oneOfStore],
  [
    'a folder beside a key',
    { store: bucket, key: 'a', clusterName: 'b' },
    'clusterName has an effect only with snapshotId',
  ],
  [
    'a namespace beside a key',
    { store: bucket, key: 'a', clusterNamespace: 'b' },
    'clusterNamespace has an effect only with snapshotId',
  ],
];
const inSources: readonly Case[] = sources.flatMap(([what, source, says]): Case[] => [
  [`an origin: ${what}`, cluster({ origin: { source } }), says],
  [`an EtcdRestore: ${what}`, restore({ source }), says],
]);

const nothingKept = 'keeps nothing: give last, within, hourly, daily, weekly, monthly or yearly';
const secretKey = { age: { recipients: ['AGE-SECRET-KEY-1QQQ'] } };
const even = 'an even size survives no more failures than the odd size below it: choose 1, 3, 5 or 7';
const noSchedule = 'needs a backup schedule: add one (backup.schedules), or set finalBackup.required: false';
const clusters: readonly Case[] = [
  ...[2, 4, 6].map((size): Case => [`size ${size}`, cluster({ size }), even]),
  ['no members', cluster({ size: 0 }), 'should be greater than or equal to 1'],
  ['more members than etcd likes', cluster({ size: 8, allowEvenSize: true }), 'should be less than or equal to 7'],
  ['an ordinal that is not there', cluster({ recovery: { id: 'a', acceptDataLoss: true, survivor: 7 } }), 'equal to 6'],
  [
    'users while the source of the certificates changes',
    cluster({ auth: true, tls: { ...members, rootSecret: 'r', backupSecret: 'e', alsoTrust: otherSource } }),
    'auth cannot be combined with tls.alsoTrust',
  ],
  ['both sources of certificates managed', cluster({ tls: bothManaged }), 'managed is given twice'],
  ...[cluster({ tls: { ...members, managed, certManager } }), trusting({ certManager })].map(
    (manifest, index): Case => [
      `two who issue the certificates of source ${index}`,
      manifest,
      'the certificates come from managed or from certManager: remove one of them',
    ],
  ),
  ...[
    cluster({ tls: { ...members, certManager: { ...certManager, peerIssuerKind: 'Issuer' } } }),
    trusting({ managed: undefined, certManager: { ...certManager, peerIssuerKind: 'Issuer' } }),
  ].map(
    (manifest, index): Case => [
      `a kind of no issuer of source ${index}`,
      manifest,
      'peerIssuerKind has no effect without peerIssuer',
    ],
  ),
  ...[cluster({ tls: { ...members, peerSecret: 'own-client', managed } }), trusting({ clientSecret: 'client-ca' })].map(
    (manifest, index): Case => [
      `one Secret for two certificates of source ${index}`,
      manifest,
      'two certificates have the same Secret',
    ],
  ),
  ...['own-peer', 'trust'].map(
    (serverSecret): Case => [
      `one Secret of two sources: ${serverSecret}`,
      trusting({ serverSecret }),
      'a Secret has more than one purpose',
    ],
  ),
  ...[{}, { cidr: '10.0.0.0/8', podLabels: {} }].flatMap((peer): Case[] => [
    [
      `access of ${JSON.stringify(peer)}`,
      cluster({ networkAccess: { peers: [peer] }, metricsAccess: { peers: [peer] } }),
      'a peer is either pods (podLabels, namespace, namespaceLabels) or addresses (cidr)',
    ],
    [
      `egress to ${JSON.stringify(peer)}`,
      cluster({ egress: { apiServer: [peer], dns: [peer], stores: [peer] } }),
      'a peer is either pods (podLabels, namespace, namespaceLabels) or addresses (cidr)',
    ],
  ]),
  ...[
    { networkAccess: { peers: [twoNamespaces] }, metricsAccess: { peers: [twoNamespaces] } },
    { egress: { apiServer: [twoNamespaces], dns: [twoNamespaces], stores: [twoNamespaces] } },
  ].map(
    (spec, index): Case => [
      `two ways to name a namespace, ${index}`,
      cluster(spec),
      'namespace cannot be combined with namespaceLabels',
    ],
  ),
  [
    'annotations of a ServiceAccount that exists',
    scheduled({ stores: [bucket], serviceAccountName: 'own', serviceAccountAnnotations: {} }),
    'serviceAccountAnnotations are for the ServiceAccount that is created',
  ],
  ...['Pods', 'ReconcilerPods'].map(
    (target): Case => [
      `an override of ${target}`,
      cluster({ overrides: [{ target, patch: {} }] }),
      'Unsupported value',
    ],
  ),
  ['an override without a patch', cluster({ overrides: [{ target: 'MemberPods' }] }), 'patch: Required value'],
  [
    'an override of the members in a schedule',
    scheduled({ overrides: [{ target: 'MemberPods', patch: {} }] }),
    'Unsupported value',
  ],
  [
    'labels that are not labels',
    cluster({
      ...{ labels: bad, nodeSelector: bad, networkAccess: { peers: badPeers }, metricsAccess: { peers: badPeers } },
      egress: { apiServer: badPeers, dns: badPeers, stores: badPeers },
      backup: { schedules: [{ name: 'a', cron: '@daily', stores: [bucket], labels: bad, nodeSelector: bad }] },
    }),
    'is not a valid value of a label',
  ],
  ...[{}, { anywhere: true, peers: [] }].map(
    (access): Case => [
      `the access ${JSON.stringify(access)}`,
      cluster({ networkAccess: access, metricsAccess: access }),
      'give either peers or anywhere: true',
    ],
  ),
  [
    'a claim policy without claims',
    cluster({ storage: { size: '8Gi', ephemeral: true }, pvcPolicy: { onShrink: 'Delete' } }),
    'pvcPolicy has no effect with storage.ephemeral',
  ],
  ...['rootSecret', 'backupSecret'].map(
    (name): Case => [
      `${name} alone`,
      cluster({ tls: { ...members, [name]: 'b' } }),
      'give both rootSecret and backupSecret, or neither',
    ],
  ),
  [
    'rootSecret alone in the other source',
    trusting({ rootSecret: 'b' }),
    'give both rootSecret and backupSecret, or neither',
  ],
  ...[undefined, members].map(
    (tls): Case => [
      `users ${tls ? 'without a certificate of root' : 'without TLS'}`,
      cluster({ auth: true, tls }),
      'auth needs TLS with a certificate of root',
    ],
  ),
  [
    'users while TLS is switched off',
    cluster({ auth: true, tls: { ...members, rootSecret: 'b', backupSecret: 'c', disabling: true } }),
    'auth needs TLS, which tls.disabling switches off: set auth: false',
  ],
  ['Delete without a schedule', cluster({ pvcPolicy: { onDelete: 'Delete' } }), noSchedule],
  ['Delete with no schedules', cluster({ pvcPolicy: { onDelete: 'Delete' }, backup: { schedules: [] } }), noSchedule],
  ['a final backup without a schedule', cluster({ finalBackup: { required: true } }), noSchedule],
  [
    'a recovery without a schedule',
    cluster({ recovery: { id: 'a', acceptDataLoss: true } }),
    'a recovery backs up the survivor first and needs a backup schedule: add one (backup.schedules)',
  ],
  ...[{}, { schedule: 'hourly' }].map(
    (others): Case => [
      `a recovery that could not read its backup: ${JSON.stringify(others)}`,
      cluster({ recovery: { id: 'a', acceptDataLoss: true }, backup: { schedules: [encrypting], ...others } }),
      'identitySecret is missing, but the schedule that backs up the survivor encrypts',
    ],
  ),
  [
    'a recovery that accepts nothing',
    cluster({ recovery: { id: 'a', acceptDataLoss: false } }),
    'acceptDataLoss must be true: writes that the survivor does not have are lost',
  ],
  [
    'metrics over https of a cluster without TLS',
    cluster({ monitoring: { scrape: { tls: true } } }),
    'monitoring.scrape.tls needs the certificate for clients, which the cluster lacks',
  ],
  ['a schedule that is not there', scheduled({}, { schedule: 'daily' }), 'schedule is not one of the backup schedules'],
  [
    'a schedule without schedules',
    cluster({ backup: { schedule: 'daily' } }),
    'schedule is not one of the backup schedules',
  ],
  [
    'two schedules of one name',
    cluster({ backup: { schedules: ['a', 'a'].map((name) => ({ name, cron: '@daily', stores: [bucket] })) } }),
    'Duplicate value',
  ],
  ['nine stores', scheduled({ stores: Array(9).fill(bucket) }), 'must have at most 8 items'],
  ['no store', scheduled({ stores: [] }), 'should have at least 1 items'],
  [
    'seventeen schedules',
    cluster({
      backup: { schedules: [...Array(17).keys()].map((n) => ({ name: `s${n}`, cron: '@daily', stores: [bucket] })) },
    }),
    'must have at most 16 items',
  ],
  ['a retention that keeps nothing', scheduled({ stores: [{ ...bucket, retention: { minKeep: 3 } }] }), nothingKept],
  ['a secret key', scheduled({ encryption: secretKey }), 'recipients must be public keys, age1…'],
  ['a name that leaves no room for those of its pods', cluster({}, 'o'.repeat(51)), 'may not be more than 50 bytes'],
  ...['3rd', 'or.ders'].map(
    (name): Case => [
      `the name ${name}`,
      cluster({}, name),
      'metadata.name must be a DNS label that begins with a letter',
    ],
  ),
  ...['orders-peers', 'orders-jobs', 'orders-etcd-reconciler', 'orders-2-client', 'orders-2-external'].map(
    (name): Case => [`the name ${name}`, cluster({}, name), 'metadata.name must not end in -peers, -jobs'],
  ),
];

const foreign = (more: Manifest) => backup({ endpoints: ['etcd:2379'], store: bucket, ...more });
const own = (more: Manifest) => backup({ clusterName: 'orders', store: bucket, ...more });
const backups: readonly Case[] = [
  ['no etcd', backup({ store: bucket }), 'give exactly one of clusterName (an EtcdCluster of this namespace) and'],
  ['two etcds', own({ endpoints: ['etcd:2379'] }), 'give exactly one of clusterName (an EtcdCluster'],
  ['nowhere to go', backup({ clusterName: 'orders' }), 'give exactly one of schedule (of the cluster) and store'],
  ['a schedule and a store', own({ schedule: 'a' }), 'give exactly one of schedule (of the cluster) and store'],
  ['a schedule of endpoints', backup({ endpoints: ['etcd:2379'], schedule: 'a' }), 'with endpoints give store instead'],
  [
    'TLS of a cluster',
    own({ tls: { files: secret } }),
    'tls is only for endpoints: remove it, because an EtcdCluster has its own',
  ],
  ['a user of a cluster', own({ auth: secret }), 'auth is only for endpoints: remove it'],
  ['https without TLS', foreign({ endpoints: ['https://etcd:2379'] }), 'an https endpoint needs tls: give the Secret'],
  [
    'http with TLS',
    foreign({ endpoints: ['http://etcd:2379'], tls: { files: secret } }),
    'but tls is given: write https://',
  ],
  [
    'a client certificate from a ConfigMap',
    foreign({ tls: { files: { configMapName: 'a' } } }),
    'the key of a client certificate must not be in a ConfigMap',
  ],
  ['TLS from nowhere', foreign({ tls: { files: {} } }), oneFiles],
  ['one endpoint twice', foreign({ endpoints: ['etcd:2379', 'etcd:2379'] }), 'Duplicate value'],
  [
    'a key and a prefix',
    own({ key: 'a', prefix: 'b' }),
    'prefix cannot be combined with key, which is the complete name of the object: remove prefix, or key',
  ],
  ['an absolute key', own({ key: '/a' }), 'is not a valid key of an object: write it like etcd/orders.db'],
  [
    'encryption beside a schedule',
    backup({ clusterName: 'orders', schedule: 'a', encryption: { age: { recipients: ['age1a'] } } }),
    'encryption is set by the schedule: remove it, or give store instead of schedule',
  ],
  ['a secret key', own({ encryption: secretKey }), 'recipients must be public keys, age1…'],
];

const may = (...permissions: Manifest[]) => user({ permissions });
const read = (keys: Manifest) => ({ ...keys, access: 'Read' });
const oneOfKeys = 'give exactly one of prefix, key, range and all';
const ownName =
  'without spec.userName the user has the name of this object, which must not be longer than 64 characters';
const reserved = 'userName must not be root or <cluster>-backup, which the reconciler and the backups use';
const users: readonly Case[] = [
  ['permission for nothing', may(read({})), oneOfKeys],
  ['permission for a prefix and a key', may(read({ prefix: 'a', key: 'b' })), oneOfKeys],
  ['permission for all and a range', may(read({ all: true, range: { from: 'a', to: 'b' } })), oneOfKeys],
  ['permission for not all', may(read({ all: false })), 'all can only be true: remove it'],
  ['an empty range', may(read({ range: { from: 'a', to: 'a' } })), 'from must be less than to, in the order of their'],
  ['a range backwards', may(read({ range: { from: 'b', to: 'a' } })), 'from must be less than to'],
  // In UTF-16 it is the other way round.
  ['a range backwards in UTF-8', may(read({ range: { from: '😀', to: '￿' } })), 'from must be less than to'],
  [
    'two permissions for one prefix',
    may({ prefix: '/a', access: 'Read' }, { prefix: '/b', access: 'Read' }, { prefix: '/a', access: 'Write' }),
    'two permissions are for the same keys: give one of them, with access: ReadWrite for both',
  ],
  [
    'two permissions for one range',
    may({ range: { from: 'a', to: 'b' }, access: 'Read' }, { range: { from: 'a', to: 'b' }, access: 'Read' }),
    'two permissions are for the same keys',
  ],
  ['two permissions for all', may(read({ all: true }), read({ all: true })), 'two permissions are for the same keys'],
  ['root', user({ userName: 'root' }), reserved],
  ['the user of backups', user({ userName: 'orders-backup' }), reserved],
  ['root by its own name', user({}, 'root'), ownName],
  ['the user of backups by its own name', user({}, 'orders-backup'), ownName],
  ['a user with a long name of its own', user({}, 'u'.repeat(65)), ownName],
  [
    'a user with a password that the certificate of all clients names',
    user({ userName: 'orders-client', passwordSecret: 'a' }),
    'must not be called <cluster>-client',
  ],
  [
    'a user with a certificate and a password',
    user({ certificateSecret: 'a', passwordSecret: 'b' }),
    'passwordSecret cannot be combined with certificateSecret: remove one of them',
  ],
];

const aPeer = 'a peer is either pods (podLabels, namespace, namespaceLabels) or addresses (cidr)';
const oneAccess = 'give either peers or anywhere: true';
const oneNamespace = 'namespace cannot be combined with namespaceLabels';
/** Of what may connect, as a field of a spec. */
const wrongAccess = (what: string, make: (access: Manifest) => Manifest): Case[] => [
  [`${what}: nobody and everybody`, make({}), oneAccess],
  [`${what}: a peer that is nothing`, make({ peers: [{}] }), aPeer],
  [`${what}: two ways to name a namespace`, make({ peers: [twoNamespaces] }), oneNamespace],
];

const monitored: readonly Case[] = Object.entries({ cluster, 'backup schedule': backupSchedule, reconciler }).flatMap(
  ([what, make]): Case[] => {
    const made = (monitoring: Manifest) => make({ monitoring });
    return [
      [
        `an interval of a ${what} for annotations`,
        made({ scrape: { method: 'Annotations', interval: '30s' } }),
        'only ServiceMonitors have interval',
      ],
      [
        `labels of a ${what} for alerts that are left out`,
        made({ alerts: { enabled: false, labels: {} } }),
        'enabled: false leaves the alerts out',
      ],
      [
        `labels of a ${what} for a dashboard that is left out`,
        made({ dashboard: { enabled: false, labels: {} } }),
        'enabled: false leaves the dashboard out',
      ],
      [
        `labels of the monitoring of a ${what} that are not labels`,
        made({
          labels: bad,
          ...{ alerts: { labels: bad }, dashboard: { labels: bad }, scraper: { peers: badPeers } },
        }),
        'is not a valid value of a label',
      ],
      [
        `labels of the monitoring of a ${what} by which others select`,
        made({ labels: { 'app.kubernetes.io/instance': 'x' } }),
        'has a label by which the pods are selected',
      ],
      ...wrongAccess(`the scraper of a ${what}`, (scraper) => made({ scraper })),
    ];
  },
);

const controlPlane = (more: Manifest, others: Manifest = {}) => backupSchedule({ controlPlane: more, ...others });
const etcd = (more: Manifest) => backupSchedule({ etcd: { endpoints: ['etcd:2379'], ...more } });
const ofNode = [{ filesystem: { hostPath: '/srv' } }];
const schedules: readonly Case[] = [
  ['a schedule of nothing', backupSchedule({ etcd: undefined }), 'give exactly one of etcd and controlPlane'],
  [
    'a schedule of two',
    controlPlane({}, { etcd: { endpoints: ['etcd:2379'] } }),
    'give exactly one of etcd and controlPlane',
  ],
  ['a directory of any node', backupSchedule({ stores: ofNode }), 'hostPath is only for controlPlane'],
  ['keys in plain text', controlPlane({ files: {} }), 'files contain keys, so they are stored only with encryption'],
  ['no files', controlPlane({ files: { directories: [] } }), 'files is empty: give directories or files'],
  [
    'a manifest of a service',
    controlPlane({ etcdService: true, manifestsDirectory: '/srv' }),
    'manifestsDirectory has no effect with etcdService',
  ],
  [
    'a secret key for files',
    controlPlane({ files: { encryption: secretKey } }),
    'recipients must be public keys, age1…',
  ],
  ['a secret key of a schedule', backupSchedule({ encryption: secretKey }), 'recipients must be public keys, age1…'],
  ['a schedule with an executable alone', backupSchedule({ stores: [command] }), needsImage],
  [
    'a schedule with annotations of a ServiceAccount that exists',
    backupSchedule({ serviceAccountName: 'own', serviceAccountAnnotations: {} }),
    'serviceAccountAnnotations are for the ServiceAccount that is created',
  ],
  [
    'a schedule with a retention that keeps nothing',
    backupSchedule({ stores: [{ ...bucket, retention: { minKeep: 3 } }] }),
    nothingKept,
  ],
  ['a schedule of https without TLS', etcd({ endpoints: ['https://etcd:2379'] }), 'an https endpoint needs tls'],
  [
    'a schedule of http with TLS',
    etcd({ endpoints: ['http://etcd:2379'], tls: { files: secret } }),
    'but tls is given: write https://',
  ],
  [
    'a client certificate of a schedule from a ConfigMap',
    etcd({ tls: { files: { configMapName: 'a' } } }),
    'the key of a client certificate must not be in a ConfigMap',
  ],
  ['TLS of a schedule from nowhere', etcd({ tls: { files: {} } }), oneFiles],
  [
    'the backup of a control plane on other nodes',
    controlPlane(
      {},
      { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } },
    ),
    'affinity must not require nodes with controlPlane',
  ],
  [
    'labels of a schedule that are not labels',
    backupSchedule({ labels: bad, nodeSelector: bad }),
    'is not a valid value of a label',
  ],
];

const toDestinations = (peer: Manifest) => reconciler({ egress: { apiServer: [peer], dns: [peer], stores: [peer] } });
const reconcilers: readonly Case[] = [
  ['the reconciler 3rd', reconciler({}, '3rd'), 'metadata.name is not a valid name of a reconciler'],
  ['a reconciler of no cluster', reconciler({ selector: {} }), 'selector is empty: give a label'],
  [
    'annotations for the existing ServiceAccount of a reconciler',
    reconciler({ serviceAccountName: 'own', serviceAccountAnnotations: {} }),
    'serviceAccountAnnotations are for the ServiceAccount that is created',
  ],
  [
    'labels of a reconciler that are not labels',
    reconciler({
      ...{ labels: bad, selector: bad, nodeSelector: bad, metricsAccess: { peers: badPeers } },
      egress: { apiServer: badPeers, dns: badPeers, stores: badPeers },
    }),
    'is not a valid value of a label',
  ],
  ...wrongAccess('the metrics of a reconciler', (metricsAccess) => reconciler({ metricsAccess })),
  ['egress of a reconciler to nothing', toDestinations({}), aPeer],
  ['egress of a reconciler with two namespaces', toDestinations(twoNamespaces), oneNamespace],
];

const named = (manifest: Manifest, length: number) => ({ ...manifest, metadata: { name: 'o'.repeat(length) } });
const names: readonly Case[] = [
  ...['certificateSecret', 'passwordSecret'].map(
    (field): Case => [
      `a Role with a long name of a ${field}`,
      user({ [field]: 's'.repeat(243) }),
      'may not be more than 242 bytes',
    ],
  ),
  ['an EtcdBackup whose Job has no name', named(own({}), 53), 'may not be more than 52 bytes'],
  [
    'an EtcdRestore with a long name',
    named(restore({ source: { backupName: 'a' } }), 64),
    'may not be more than 63 bytes',
  ],
];

/** Of CPU, then of memory. */
const tooMuch = ['cpu', 'memory'].map((what) => ({ requests: { [what]: '2Gi' }, limits: { [what]: '1Gi' } }));
const resources: readonly Case[] = ['cpu', 'memory'].flatMap((what, at): Case[] => {
  const says = `the request of ${what} is above its limit, so no pod can start: raise the limit or lower the request`;
  const more = { resources: tooMuch[at] };
  return [
    [`members that request more ${what} than their limit`, cluster(more), says],
    [`an agent that requests more ${what} than its limit`, cluster({ containers: { agent: more } }), says],
    [`a gate that requests more ${what} than its limit`, cluster({ containers: { gate: more } }), says],
    [`a schedule that requests more ${what} than its limit`, scheduled(more), says],
    [
      `an origin that requests more ${what} than its limit`,
      cluster({ origin: { source: { backupName: 'a' }, ...more } }),
      says,
    ],
    [`an EtcdBackup that requests more ${what} than its limit`, own(more), says],
    [`a reconciler that requests more ${what} than its limit`, reconciler(more), says],
    [
      `an EtcdBackupSchedule that requests more ${what} than its limit`,
      backupSchedule({ ...more, monitoring: more }),
      says,
    ],
    [
      `an EtcdRestore that requests more ${what} than its limit`,
      restore({ source: { backupName: 'a' }, ...more }),
      says,
    ],
  ];
});

/** Fields of pods that the pods decide, in each kind that has them. */
const owners: Readonly<Record<string, (pods: Manifest, container: Manifest, more?: Manifest) => Manifest>> = {
  'a cluster': (pods, container, more = {}) =>
    cluster({
      ...{ ...pods, ...more, containers: { etcd: container, agent: container, gate: container } },
      backup: { schedules: [{ name: 'hourly', cron: '@hourly', stores: [bucket], ...pods, container }] },
    }),
  'a schedule of another etcd': (pods, container) => backupSchedule({ ...pods, container }),
  'a reconciler': (pods, container, more = {}) => reconciler({ ...pods, ...more, container }),
  'an EtcdBackup': (pods, container) => own({ ...pods, container }),
  'an EtcdRestore': (pods, container) => restore({ source: { backupName: 'a' }, ...pods, container }),
};
const image = 'registry.example.com/image';
const ofEtcd = { name: 'data', mountPath: '/mine' };
const ofEtcdContainer: readonly Case[] = [
  ...[
    cluster({ serviceAccountName: 'etcd-reconciler' }),
    cluster({ reconciler: { serviceAccountName: 'orders' } }, 'orders'),
    cluster({}, 'etcd-reconciler'),
  ].map(
    (manifest, index): Case => [
      `the ServiceAccount of the reconciler for members, ${index}`,
      manifest,
      'serviceAccountName is that of the reconciler, whose rights members must not have',
    ],
  ),
  ...[
    scheduled({ serviceAccountName: 'etcd-reconciler' }),
    scheduled({ cronJobName: 'etcd-reconciler' }),
    { ...scheduled({ name: 'reconciler' }), metadata: { name: 'etcd' } },
  ].map(
    (manifest, index): Case => [
      `the ServiceAccount of the reconciler for a schedule, ${index}`,
      manifest,
      'a schedule has the ServiceAccount of the reconciler',
    ],
  ),
  ...[
    cluster({ origin: { source: { backupName: 'a' }, serviceAccountName: 'etcd-reconciler' } }),
    own({ serviceAccountName: 'etcd-reconciler' }),
    restore({ source: { backupName: 'a' }, serviceAccountName: 'etcd-reconciler' }),
    backupSchedule({ serviceAccountName: 'etcd-reconciler' }),
  ].map(
    (manifest): Case => [
      `the ServiceAccount of the reconciler for the Job of an ${manifest.kind}`,
      manifest,
      'serviceAccountName is that of the reconciler, whose rights a Job must not have',
    ],
  ),
  [
    'a schedule with the name of the reconciler',
    { ...backupSchedule({}), metadata: { name: 'etcd-reconciler' } },
    'metadata.name is also the name of its ServiceAccount, and that of the reconciler',
  ],
  ...['/', '/etc', '/x/../data', '/./data', '/a//b', '/run/secrets/mine'].map(
    (mountPath): Case => [
      `a mount at ${mountPath}`,
      cluster({ containers: { agent: { volumeMounts: [{ name: 'mine', mountPath }] } } }),
      'not a plain absolute path',
    ],
  ),
  [
    'an annotation of the reconciler for claims',
    cluster({ storage: { size: '8Gi', annotations: { 'cdk8s-etcd.dev/epoch': '1' } } }),
    'begins with cdk8s-etcd.dev/',
  ],
  ...['HTTPS_PROXY', 'http_proxy'].map(
    (name): Case => [
      `${name} of etcd`,
      cluster({ containers: { etcd: { env: [{ name }] } } }),
      'etcd would connect to the other members through the proxy',
    ],
  ),
];
const ofPods: readonly Case[] = Object.entries(owners).flatMap(([owner, inPods]): Case[] => [
  ...(
    [
      [{ effect: 'NoSchedule' }, 'key is missing: give the key of the taint, or operator: Exists'],
      [{ key: 'disk', operator: 'Exists', value: 'ssd' }, 'value has no effect with operator: Exists'],
      [{ key: 'disk', effect: 'NoSchedule', tolerationSeconds: 5 }, 'tolerationSeconds has no effect without effect'],
    ] as const
  ).map(
    ([toleration, says]): Case => [
      `the toleration ${JSON.stringify(toleration)} in ${owner}`,
      inPods({ tolerations: [toleration] }, {}),
      says,
    ],
  ),
  [
    `a variable from two sources in ${owner}`,
    inPods({}, { env: [{ name: 'MINE', value: 'a', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
    'value cannot be combined with valueFrom',
  ],
  // The Job of the others may have the dnsConfig of its schedule.
  ...(/EtcdBackup$|EtcdRestore/.test(owner) ? [] : [{}, { dnsConfig: { nameservers: [] } }]).map(
    (more): Case => [
      `no servers to ask in ${owner}: ${JSON.stringify(more)}`,
      inPods({ dnsPolicy: 'None', ...more }, {}),
      'dnsPolicy None needs the servers to ask',
    ],
  ),
  ...['ETCD_AGENT_', 'ETCD'].map(
    (prefix): Case => [
      `variables ${prefix}… of a Secret in ${owner}`,
      inPods({}, { envFrom: [{ prefix, secretRef: { name: 'mine' } }] }),
      'prefix makes variables ETCD_…',
    ],
  ),
  [
    `the claim of a member in ${owner}`,
    inPods({ volumes: [{ name: 'mine', persistentVolumeClaim: { claimName: 'data-orders-0' } }] }, {}),
    'persistentVolumeClaim is one with the data of a member',
  ],
  ...['MIN_EPOCH', 'ETCD_AGENT_NAMESPACE', 'ETCD_LOG_LEVEL'].map(
    (name): Case => [`the variable ${name} in ${owner}`, inPods({}, { env: [{ name }] }), 'name is that of a variable'],
  ),
  ...['/data', '/data/mine', 'etc/etcd/tls', '//tmp'].map(
    (mountPath): Case => [
      `a mount at ${mountPath} in ${owner}`,
      inPods({}, { volumeMounts: [{ name: 'mine', mountPath }] }),
      'mountPath is in a directory that the pod needs',
    ],
  ),
  [
    `a mount of the data in ${owner}`,
    inPods({}, { volumeMounts: [ofEtcd] }),
    'name is that of the volume with the data of etcd',
  ],
  ...['data', 'peer-tls', 'store-0-ca', 'tmp'].map(
    (name): Case => [
      `a volume with the name ${name} in ${owner}`,
      inPods({ volumes: [{ name, emptyDir: {} }] }, {}),
      'name is that of a volume that the pod has',
    ],
  ),
  ...['etcd', 'gate', 'backup'].map(
    (name): Case => [
      `a container with the name ${name} in ${owner}`,
      inPods({ initContainers: [{ name, image }] }, {}, { sidecars: [{ name, image }] }),
      'name is that of a container that the pod has',
    ],
  ),
  [
    `a container with the data in ${owner}`,
    inPods(
      { initContainers: [{ name: 'mine', image, volumeMounts: [ofEtcd] }] },
      {},
      { sidecars: [{ name: 'mine', image, volumeMounts: [ofEtcd] }] },
    ),
    'volumeMounts has the volume with the data of etcd',
  ],
  [
    `two containers with one name in ${owner}`,
    inPods({ initContainers: Array(2).fill({ name: 'mine', image }) }, {}),
    'Duplicate value',
  ],
  [
    `two lines for one address in ${owner}`,
    inPods({ hostAliases: Array(2).fill({ ip: '10.0.0.1' }) }, {}),
    'Duplicate value',
  ],
  [
    `one Secret twice in ${owner}`,
    inPods({ imagePullSecrets: Array(2).fill({ name: 'mine' }) }, {}),
    'Duplicate value',
  ],
  ...['labels', 'podLabels'].map(
    (field): Case => [
      `${field} that select the pods of ${owner}`,
      inPods({ [field]: { 'app.kubernetes.io/component': 'x' } }, {}),
      'has a label by which the pods are selected',
    ],
  ),
  ...['annotations', 'podAnnotations'].map(
    (field): Case => [
      `${field} that the reconciler needs, in ${owner}`,
      inPods({ [field]: { 'cdk8s-etcd.dev/epoch': '7' } }, {}),
      'has an annotation that begins with cdk8s-etcd.dev/',
    ],
  ),
]);

const pods: readonly Case[] = [
  ...ofPods,
  ...[
    backup({ clusterName: 'orders', schedule: 'a', ...ownAccount }),
    restore({ source: { backupName: 'a' }, ...ownAccount }),
  ].map(
    (manifest): Case => [
      `annotations of an existing ServiceAccount of the Job of an ${manifest.kind}`,
      manifest,
      'serviceAccountAnnotations are for the ServiceAccount that is created',
    ],
  ),
  ...ofEtcdContainer,
  [
    'annotations of an existing ServiceAccount of the members',
    cluster({ serviceAccountName: 'own', serviceAccountAnnotations: {} }),
    'serviceAccountAnnotations are for the ServiceAccount that is created',
  ],
  ...['loadBalancerClass', 'loadBalancerSourceRanges'].map((field): Case => {
    const value = field === 'loadBalancerClass' ? 'a' : ['10.0.0.0/8'];
    return [
      `${field} without a load balancer`,
      cluster({ service: { [field]: value }, externalServices: { type: 'NodePort', [field]: value } }),
      `${field} has an effect only with type LoadBalancer`,
    ];
  }),
  [
    'nothing external about a ClusterIP',
    cluster({ service: { type: 'ClusterIP', externalTrafficPolicy: 'Local', nodePort: 30_079 } }),
    'has an effect only with type LoadBalancer or NodePort',
  ],
  [
    'evictions that no budget decides on',
    cluster({ podDisruptionBudget: { enabled: false, unhealthyPodEvictionPolicy: 'AlwaysAllow' } }),
    'unhealthyPodEvictionPolicy has no effect with enabled: false',
  ],
  [
    'labels of claims and Services',
    cluster({
      storage: { size: '8Gi', labels: bad },
      service: { labels: bad },
      externalServices: { type: 'NodePort', labels: bad },
    }),
    'is not a valid value of a label',
  ],
  [
    'labels of Services by which others select',
    cluster({
      service: { labels: { 'app.kubernetes.io/name': 'x' } },
      externalServices: { type: 'NodePort', labels: { 'app.kubernetes.io/part-of': 'x' } },
    }),
    'has a label by which the pods are selected',
  ],
  ['a Job that is deleted at once', scheduled({ ttlSecondsAfterFinished: 1 }), 'greater than or equal to 600'],
];

export const badSpecs: readonly Case[] = [
  ...pods,
  ...resources,
  ...names,
  ...contradictions,
  ...together,
  ['an unknown file of TLS', foreign({ tls: { files: filesOf({}) } }), 'items has a file that is not used'],
  ['an unknown file of a login', foreign({ auth: filesOf({}) }), 'items has a file that is not used'],
  ['TLS without an authority', foreign({ tls: { files: onlyFile('tls.crt') } }), 'items lacks a file: give ca.crt'],
  [
    'a client certificate that is not there',
    foreign({ tls: { files: onlyFile('ca.crt') } }),
    'items lacks a file of the client certificate',
  ],
  [
    'a client certificate that a schedule lacks',
    backupSchedule({ etcd: { endpoints: ['https://etcd.etcd:2379'], tls: { files: onlyFile('ca.crt') } } }),
    'items lacks a file of the client certificate',
  ],
  ['a login without a password', foreign({ auth: onlyFile('username') }), 'items lacks a file: give username and'],
  ...[{ storageClassName: 'fast' }, { accessModes: ['ReadWriteOncePod'] }].map(
    (more): Case => [
      `an ephemeral volume with ${Object.keys(more)}`,
      cluster({ storage: { size: '8Gi', ephemeral: true, ...more } }),
      'ephemeral has no volume claim',
    ],
  ),
  ...inStores,
  ...withoutImage,
  ...inSources,
  ...clusters,
  ...backups,
  ...users,
  ...monitored,
  ...schedules,
  ...reconcilers,
];
