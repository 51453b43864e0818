import { common, conditions } from './conditions.mjs';
import { ageColumn, column, crd, reasonColumns } from './crd.mjs';
import { kubernetes } from './kubernetes.mjs';
import { limitRules, memberResources, sizeOf } from './limits.mjs';
import { clusterMonitoring } from './monitoring.mjs';
import { egress, networkAccess } from './network.mjs';
import { overrides } from './overrides.mjs';
import {
  annotations,
  defaultReconciler,
  dnsRule,
  furtherAnnotations,
  furtherLabels,
  image,
  images,
  jobAccountRule,
  labels,
  memberContainers,
  metadata,
  placement,
  podAnnotations,
  podFields,
  podRules,
  registry,
  sidecars,
} from './pods.mjs';
import { schedule } from './schedule.mjs';
import {
  choice,
  duration,
  flag,
  integer,
  list,
  mapBy,
  matching,
  named,
  object,
  objectName,
  rules,
  secretName,
  text,
  time,
  withDefault,
} from './schema.mjs';
import { externalServices, service } from './service.mjs';
import { restoreFields, restoreRules } from './source.mjs';
import { resources } from './store.mjs';
import { hasRoot, tls, tlsNameRules } from './tls.mjs';

export const backupRevision = integer(
  'The revision at the start of the backup. Writes continue meanwhile, so the snapshot has at least this revision.',
  0,
);

const ordinal = (description) => integer(description, 0, 6);
const memberId = (description) =>
  matching(
    description,
    16,
    /^[0-9a-f]+$/,
    'is not a valid member id: write it in hexadecimal, as status.members and `etcdctl member list` show it',
  );
const deletion = (description) => choice(description, ['Retain', 'Delete'], { default: 'Retain' });

const backup = object(
  'The backups of this cluster. Secrets appear only by name.',
  {
    schedules: list('The backup schedules of this cluster.', schedule, 0, 16, mapBy('name')),
    schedule: text(
      'The schedule whose settings are used for the backup before an upgrade, the final backup, the backup before a restore, and the backup of a survivor. Default: the first schedule.',
      63,
    ),
    requiredForUpgrade: flag('Refuses an upgrade if there is no schedule.', { default: false }),
  },
  rules([
    '!has(self.schedule) || (has(self.schedules) && self.schedules.exists(each, each.name == self.schedule))',
    'schedule is not one of the backup schedules: give one of them, or leave it out to use the first',
    { fieldPath: '.schedule' },
  ]),
);

const recovery = object(
  'Continues from a surviving member after most members have been lost permanently. It happens once per id.',
  {
    'id!': matching(
      'A name of your choice. Another recovery needs another name.',
      63,
      /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
      "is not a valid id: use lower-case letters, digits, '-' and '.', such as 2026-11-21-zone-b",
    ),
    action: choice('The recovery to perform.', ['RestoreFromSurvivor'], { default: 'RestoreFromSurvivor' }),
    'acceptDataLoss!': flag('Writes that the survivor does not have are lost: set it to true to accept that.'),
    survivor: ordinal('The ordinal of the survivor. Default: the member with the most data.'),
    identitySecret: secretName('A Secret whose files are age identities. Required if the schedule encrypts.'),
  },
  rules([
    'self.acceptDataLoss',
    'acceptDataLoss must be true: writes that the survivor does not have are lost. If the other members can come back, remove recovery and wait for them',
    { fieldPath: '.acceptDataLoss' },
  ]),
);

/** CEL: the ServiceAccount of an owner, or what it has otherwise. */
const accountOf = (owner, otherwise, isThere = '') =>
  `(${isThere}has(${owner}.serviceAccountName) ? ${owner}.serviceAccountName : ${otherwise})`;

const reconcilerAccount = accountOf('self.spec.reconciler', `'${defaultReconciler}'`, 'has(self.spec.reconciler) && ');

/** What the claims of a StatefulSet follow from beside their size. */
const claimsOf = (spec) => {
  const storage = (field, fallback) =>
    `(has(${spec}.storage) && has(${spec}.storage.${field}) ? ${spec}.storage.${field} : ${fallback})`;
  return {
    storageClassName: storage('storageClassName', "''"),
    accessModes: storage('accessModes', "['ReadWriteOnce']"),
    labels: storage('labels', '{}'),
    annotations: storage('annotations', '{}'),
    selector: `(has(${spec}.storage) && has(${spec}.storage.selector) ? [${spec}.storage.selector] : [])`,
    overrides: `(has(${spec}.overrides) ? ${spec}.overrides : []).filter(each, each.target == 'Claims')`,
  };
};
const sameClaims = (...fields) =>
  fields.map((field) => `${claimsOf('self')[field]} == ${claimsOf('oldSelf')[field]}`).join(' && ');

/** CEL: what is restored stays. How the Job runs may be corrected. */
const whatOrigin = ['source', 'identitySecret', 'sha256', 'expectedRevision'].map((field) => {
  const [now, before] = ['self', 'oldSelf'].map((spec) => `${spec}.origin.${field}`);
  return `has(${now}) == has(${before}) && (!has(${now}) || ${now} == ${before})`;
});
const sameOrigin = `has(self.origin) == has(oldSelf.origin) && (!has(self.origin) || (${whatOrigin.join(' && ')}))`;

const storage = object(
  'The volume of each member.',
  {
    'size!': text(
      'The size of the volume, at least 2Gi. It cannot be changed, unless the volume is ephemeral.',
      32,
      rules([
        "isQuantity(self) && quantity(self).compareTo(quantity('2Gi')) >= 0",
        'must be a quantity of at least 2Gi, such as 8Gi: etcd preallocates its log and needs room for a second copy of its database',
      ]),
    ),
    storageClassName: objectName(
      'The StorageClass. It cannot be changed. Default: that of the Kubernetes cluster.',
      'StorageClass',
    ),
    accessModes: withDefault(
      ['ReadWriteOnce'],
      list(
        'The access mode of the claims: one. It cannot be changed.',
        choice('An access mode.', ['ReadWriteOnce', 'ReadWriteOncePod']),
        1,
        1,
      ),
    ),
    ephemeral: flag('Uses an emptyDir instead of a PersistentVolumeClaim: a pod that is deleted loses its data.', {
      default: false,
    }),
    labels: labels('Further labels of the claims. They cannot be changed.'),
    annotations: furtherAnnotations('Further annotations of the claims. They cannot be changed.'),
    selector: kubernetes('LabelSelector', 'The labels of the volumes that a claim may use. They cannot be changed.'),
  },
  rules([
    '!self.ephemeral || (!has(self.storageClassName) && !has(self.accessModes) && !has(self.labels) && !has(self.annotations) && !has(self.selector))',
    'ephemeral has no volume claim, so storageClassName, accessModes, labels, annotations and selector have no effect: remove them, or ephemeral',
    { fieldPath: '.ephemeral' },
  ]),
);

const hour = { mode: 'periodic', retention: '1h' };
const usualTimes = { heartbeatInterval: '100ms', electionTimeout: '1s' };
/** CEL: a time of the tuning. */
const timeOf = (field) => `(has(self.${field}) ? self.${field} : '${usualTimes[field]}')`;
const [heartbeat, election] = Object.keys(usualTimes).map(timeOf);
const tuning = object(
  'The timeouts, snapshots and compaction of etcd.',
  {
    heartbeatInterval: withDefault(
      usualTimes.heartbeatInterval,
      duration('The interval between heartbeats of the leader.'),
    ),
    electionTimeout: withDefault(
      usualTimes.electionTimeout,
      duration('The time without heartbeats after which members elect a leader.'),
    ),
    snapshotCount: withDefault(
      10_000,
      integer('The number of writes after which a member takes a snapshot of its log.', 1),
    ),
    autoCompaction: withDefault(
      hour,
      object('How much history etcd keeps.', {
        'mode!': choice('What retention counts.', ['periodic', 'revision']),
        'retention!': matching(
          'A duration for periodic, such as 1h, a number of revisions for revision, or 0 to keep all.',
          32,
          /^(0|[1-9][0-9]*|([0-9]+([.][0-9]+)?(ms|s|m|h))+)$/,
          'is not a valid retention: write 1h, or a number of revisions such as 1000, or 0 for no compaction',
        ),
      }),
      `that of ${hour.retention}`,
    ),
  },
  rules([
    // CEL has no days and weeks, which would be too long.
    `[${heartbeat}, ${election}].all(each, each.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$')) && duration(${election}) >= ${Array(5).fill(`duration(${heartbeat})`).join(' + ')} && duration('50s') >= duration(${election})`,
    'electionTimeout must be at least five times heartbeatInterval, and at most 50s, or etcd does not start: give about ten times heartbeatInterval',
    { fieldPath: '.electionTimeout' },
  ]),
);

const whenUnsatisfiable = (description) => choice(description, ['DoNotSchedule', 'ScheduleAnyway']);
const usualSpread = { zones: 'ScheduleAnyway', nodes: 'DoNotSchedule' };
const spread = withDefault(
  usualSpread,
  object('How the members are spread. A field that is missing means no constraint, and {} none at all.', {
    zones: whenUnsatisfiable('What happens to a pod that would be in the zone of another member without need.'),
    nodes: whenUnsatisfiable('What happens to a pod that would be on the node of another member without need.'),
  }),
  `nodes ${usualSpread.nodes} and zones ${usualSpread.zones}`,
);

const replace = object('The rules for replacing members.', {
  policy: choice(
    'When a member is replaced. OnVolumeLoss: when its pod starts with an empty volume. Manual: only if it is in force.',
    ['OnVolumeLoss', 'Manual'],
    {
      default: 'OnVolumeLoss',
    },
  ),
  force: list(
    'The members to replace now. A member that no longer exists is ignored.',
    object('A member to replace.', {
      'ordinal!': ordinal('The ordinal of its pod.'),
      'memberId!': memberId('Its member id, so that its successor is not replaced too.'),
      discardVolume: flag('Also deletes its PersistentVolumeClaim. Use it for a volume that was lost with its node.', {
        default: false,
      }),
    }),
    0,
    7,
    mapBy('ordinal'),
  ),
});

const requestTime = time(
  'The time of the request, from which it may begin. Only a request that is newer than the last one is carried out, and only once. If it cannot begin within an hour, it fails.',
);

const spec = object(
  'The desired state. `new EtcdCluster(…)` writes it, and also renders the StatefulSet and all other objects.',
  {
    size: integer('The number of voting members.', 1, 7, { default: 3 }),
    allowEvenSize: flag('Allows an even size.', { default: false }),
    'version!': matching(
      'The version of etcd. If image is given, it must be the version in it.',
      16,
      /^3\.([56]\.(1[1-9]|[2-9][0-9]|[1-9][0-9]{2})|7\.(0|[1-9][0-9]{0,2}))$/,
      'is not a supported version of etcd: write 3.5.11, 3.6.11, 3.7.0 or a later patch of these, such as 3.6.16',
    ),
    image: image('The image of etcd. Default: the image of the etcd project with the tag of version.'),
    registry,
    agentImage: image('The image of the agent in the pods of members. Default: the images of the release.'),
    ...images,
    imagePullPolicy: withDefault('IfNotPresent', images.imagePullPolicy),
    paused: flag('Pauses the reconciler: it only observes and reports.', { default: false }),
    reconciler: object('The reconciler of this cluster, whose ServiceAccount gets the rights for it.', {
      serviceAccountName: withDefault(defaultReconciler, objectName('Its ServiceAccount.', 'ServiceAccount')),
      name: objectName('Its name, by which alerts find it. Default: serviceAccountName.', 'Deployment'),
    }),
    tls,
    clusterDomain: withDefault(
      'cluster.local',
      matching(
        'The DNS domain of the Kubernetes cluster.',
        253,
        /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
        "is not a valid DNS domain: use lower-case letters, digits, '-' and '.', such as cluster.local",
      ),
    ),
    auth: flag(
      "Switches etcd's authentication on or off. Missing: it is switched on with the first EtcdUser, and then stays on.",
    ),
    replace,
    origin: object(
      'Starts this cluster with the data of a backup. It is used only once, when the cluster is created. Then only resources, image and serviceAccountName can be changed, for a Job that does not work.',
      restoreFields,
      rules(...restoreRules),
    ),
    recovery,
    storage,
    quota: text(
      'The largest size of the database. Above it, etcd refuses writes. The volume must hold twice the quota and 1Gi. Default: half of the volume above 1Gi, at most 8Gi.',
      32,
      rules([
        "isQuantity(self) && quantity(self).compareTo(quantity('1Mi')) >= 0",
        'must be a quantity of at least 1Mi, such as 4Gi',
      ]),
    ),
    resources: withDefault(
      memberResources,
      resources(
        'The CPU and memory of etcd. A request stands for a missing limit of memory, and a limit for a missing request.',
      ),
      `requests of ${memberResources.requests.cpu} and ${memberResources.requests.memory}, and a limit of ${memberResources.limits.memory}`,
    ),
    tuning,
    settings: {
      type: 'object',
      description:
        'Further settings of etcd, by the keys of the configuration file of this version, such as max-request-bytes: 10485760.',
      'x-kubernetes-preserve-unknown-fields': true,
    },
    spread,
    networkAccess: withDefault(
      { peers: [{ podLabels: {} }] },
      networkAccess('The clients that may connect to the members. The backups and the reconciler always may.'),
      'every pod of the namespace',
    ),
    metricsAccess: withDefault(
      { peers: [] },
      networkAccess('The clients that may read the metrics of etcd and of the agent.'),
      'nobody',
    ),
    egress,
    ...placement,
    ...podFields,
    sidecars,
    containers: memberContainers,
    serviceAccountName: objectName(
      'An existing ServiceAccount of the members, which gets the rights for it. Default: one that is created, with the name of the cluster.',
      'ServiceAccount',
    ),
    serviceAccountAnnotations: annotations('The annotations of the ServiceAccount that is created.'),
    labels: furtherLabels('Further labels of every object and pod of the cluster.'),
    ...metadata,
    podAnnotations,
    revisionHistoryLimit: withDefault(10, integer('How many former revisions of the StatefulSet are kept.', 0, 100)),
    service,
    externalServices,
    podDisruptionBudget: object(
      'The PodDisruptionBudget of the members, which lets a drain take one member at a time.',
      {
        enabled: withDefault(true, flag('False: there is none, and a drain may take several members at a time.')),
        unhealthyPodEvictionPolicy: choice(
          'When a pod that is not ready may be evicted. Default: that of Kubernetes, IfHealthyBudget.',
          ['IfHealthyBudget', 'AlwaysAllow'],
        ),
      },
      rules([
        '!has(self.unhealthyPodEvictionPolicy) || !has(self.enabled) || self.enabled',
        'unhealthyPodEvictionPolicy has no effect with enabled: false: remove one of them',
        { fieldPath: '.unhealthyPodEvictionPolicy' },
      ]),
    ),
    overrides: overrides('OverrideSpec', [
      'MemberPods',
      'BackupPods',
      'Claims',
      'StatefulSet',
      'Services',
      'ClientService',
      'MemberServices',
      'PeerService',
      'PodDisruptionBudget',
      'ServiceAccounts',
      'CronJobs',
    ]),
    protect: flag(
      'Keeps every object of the cluster when it leaves the repository that Argo CD or Flux applies. Default: true, or false with storage.ephemeral.',
    ),
    pvcPolicy: object('The policies for PersistentVolumeClaims that are no longer needed.', {
      onShrink: deletion('The policy for the claim of a member that is removed because size is lowered.'),
      onDelete: deletion('The policy for all claims when this EtcdCluster is deleted.'),
    }),
    backup,
    monitoring: clusterMonitoring,
    finalBackup: object('The final backup before a deletion.', {
      'required!': flag('Lets a deletion wait for it. Default: true with pvcPolicy.onDelete: Delete, else false.'),
    }),
    maintenance: object('Maintenance that the reconciler performs.', {
      onNoSpace: choice(
        'The policy for a database that has reached its quota. Report: the reconciler only reports it. CompactDefragDisarm: the reconciler frees space and allows writes again.',
        ['Report', 'CompactDefragDisarm'],
        { default: 'CompactDefragDisarm' },
      ),
      defragment: object('Asks for one defragmentation, member by member, the leader last.', {
        'at!': requestTime,
        ordinal: ordinal('The ordinal of the only member that is meant. Default: all members.'),
      }),
      moveLeader: object('Asks once that a certain member becomes the leader.', {
        'at!': requestTime,
        'ordinal!': ordinal('The ordinal of the member that is to lead.'),
      }),
    }),
  },
  rules(
    ...podRules,
    dnsRule,
    [
      'self.size % 2 == 1 || self.allowEvenSize',
      'an even size survives no more failures than the odd size below it: choose 1, 3, 5 or 7, or set allowEvenSize: true',
      { fieldPath: '.size' },
    ],
    [
      `!has(self.auth) || !self.auth || (has(self.tls) && ${hasRoot('self.tls')})`,
      'auth needs TLS with a certificate of root: let the reconciler or cert-manager issue the certificates, or give tls.rootSecret and tls.backupSecret, or remove auth',
      { fieldPath: '.auth' },
    ],
    [
      '!has(self.auth) || !self.auth || !has(self.tls) || !has(self.tls.disabling) || !self.tls.disabling',
      'auth needs TLS, which tls.disabling switches off: set auth: false, and remove disabling until authentication is off in etcd',
      { fieldPath: '.auth' },
    ],
    [
      '!has(self.auth) || !self.auth || !has(self.tls) || !has(self.tls.alsoTrust)',
      'auth cannot be combined with tls.alsoTrust: set auth: false, and wait until authentication is off in etcd, before the source of the certificates changes',
      { fieldPath: '.auth' },
    ],
    [
      '!has(self.monitoring) || !has(self.monitoring.scrape) || !has(self.monitoring.scrape.tls) || !self.monitoring.scrape.tls || (has(self.tls) && (!has(self.tls.disabling) || !self.tls.disabling))',
      'monitoring.scrape.tls needs the certificate for clients, which the cluster lacks: add tls, or remove it',
      { fieldPath: '.monitoring.scrape.tls' },
    ],
    [
      sameOrigin,
      'origin is used only when the cluster is created, so it cannot be added, changed or removed, except how its Job runs (resources, image, serviceAccountName): to restore into this cluster, create an EtcdRestore',
      { fieldPath: '.origin', reason: 'FieldValueForbidden' },
    ],
    [
      '(has(self.storage) && self.storage.ephemeral) == (has(oldSelf.storage) && oldSelf.storage.ephemeral)',
      'storage.ephemeral cannot be changed in place: create a new EtcdCluster, with spec.origin from a backup of this one',
      { fieldPath: '.storage', reason: 'FieldValueForbidden' },
    ],
    [
      `(has(self.storage) && self.storage.ephemeral) || (has(oldSelf.storage) && oldSelf.storage.ephemeral) || !isQuantity(${sizeOf('self')}) || !isQuantity(${sizeOf('oldSelf')}) || quantity(${sizeOf('self')}).compareTo(quantity(${sizeOf('oldSelf')})) == 0`,
      'storage.size cannot be changed, because Kubernetes keeps the claims of a StatefulSet as they are: keep it, or create a new EtcdCluster, with spec.origin from a backup of this one',
      { fieldPath: '.storage', reason: 'FieldValueForbidden' },
    ],
    [
      sameClaims('storageClassName', 'accessModes', 'labels', 'annotations', 'selector'),
      'storage.storageClassName, storage.accessModes, storage.labels, storage.annotations and storage.selector cannot be changed, because Kubernetes keeps the claims of a StatefulSet as they are: keep them, or create a new EtcdCluster, with spec.origin from a backup of this one',
      { fieldPath: '.storage', reason: 'FieldValueForbidden' },
    ],
    [
      sameClaims('overrides'),
      'overrides of Claims cannot be changed, because Kubernetes keeps the claims of a StatefulSet as they are: keep them, or create a new EtcdCluster, with spec.origin from a backup of this one',
      { fieldPath: '.overrides', reason: 'FieldValueForbidden' },
    ],
    [
      '!has(self.pvcPolicy) || !has(self.storage) || !self.storage.ephemeral',
      'pvcPolicy has no effect with storage.ephemeral, which has no PersistentVolumeClaims: remove it',
      { fieldPath: '.pvcPolicy', reason: 'FieldValueForbidden' },
    ],
    [
      "!(has(self.finalBackup) ? self.finalBackup.required : has(self.pvcPolicy) && self.pvcPolicy.onDelete == 'Delete') || (has(self.backup) && has(self.backup.schedules) && self.backup.schedules.size() > 0)",
      'a final backup, which pvcPolicy.onDelete: Delete requires by default, needs a backup schedule: add one (backup.schedules), or set finalBackup.required: false',
      { fieldPath: '.finalBackup' },
    ],
    [
      '!has(self.recovery) || (has(self.backup) && has(self.backup.schedules) && self.backup.schedules.size() > 0)',
      'a recovery backs up the survivor first and needs a backup schedule: add one (backup.schedules)',
      { fieldPath: '.recovery' },
    ],
    [
      // By the schedule that `ownSchedule` returns.
      '!has(self.recovery) || has(self.recovery.identitySecret) || !has(self.backup) || !has(self.backup.schedules) || self.backup.schedules.size() == 0 || (has(self.backup.schedule) ? self.backup.schedules.filter(each, each.name == self.backup.schedule) : [self.backup.schedules[0]]).all(each, !has(each.encryption))',
      'identitySecret is missing, but the schedule that backs up the survivor encrypts: name the Secret with the age identity',
      { fieldPath: '.recovery' },
    ],
    ...limitRules,
  ),
);

const member = named(
  'EtcdMemberStatus',
  object('The state of a member.', {
    'ordinal!': ordinal('The ordinal of its pod.'),
    pod: text('The name of its pod.', 253),
    memberId: text('Its member id in etcd.', 16),
    role: text('Its role: Leader, Follower or Learner.', 32),
    version: text('The version of etcd that it runs.', 32),
    healthy: flag('True if it answers, knows the leader and keeps up.'),
    dbSize: integer('The size of its database in bytes, rounded up to a MiB.', 0),
    volumeUse: integer('The share of its volume that is in use, in percent, rounded up to a multiple of 5.', 0, 100),
    lag: integer('The number of log entries by which it is behind.', 0),
    loaded: object('With TLS: the roots that its etcd trusts. It reads them only when it starts.', {
      peerRoot: text(
        'The first 16 hex digits of the SHA-256 of the root that other members must have; of several, each, with + between them. Missing if it is unknown.',
        256,
      ),
      clientRoot: text('The same of the root that clients must have.', 256),
    }),
    reason: text('The reason why it is not healthy.', 1024),
  }),
);

const steps = (limit) =>
  list(
    'Its steps so far, in the order in which they began. A step that took less than a second or two may be missing.',
    named(
      'OperationStep',
      object('A step.', {
        'name!': text('What is done, such as restart orders-2.', 256),
        kind: text('The kind of what is done, such as Restart.', 32),
        'startedAt!': time('The time at which it began.'),
        endedAt: time('The time at which it ended. Missing while it is in progress.'),
      }),
    ),
    0,
    limit,
    mapBy('name'),
  );

const operation = (description, more) =>
  object(description, {
    'type!': text('What is done: the reason of condition Progressing with which it began.', 64),
    target: text('The size or version that is its goal.', 32),
    'startedAt!': time('The time at which it began.'),
    steps: steps(48),
    ...more,
  });

const request = (description, more) =>
  object(description, {
    'at!': time('The time that the request names.'),
    'phase!': text('Waiting, Running, Completed or Failed.', 32),
    'message!': text('What it waits for, or what came of it.', 512),
    ...more,
  });
const last = { last: request('The newest request that was tried, while this one waits.') };

const status = object('The state that the reconciler observes. Fields whose value it does not know are missing.', {
  ...common,
  epoch: integer('The number of times that the data of the cluster started anew: 1, plus one for each restore.', 0),
  clusterId: text('The id of the cluster in etcd.', 16),
  clusterUid: text('An id that, unlike the uid of this object, survives a deletion with retained volumes.', 64),
  size: integer('The number of pods that there should be now.', 0, 7),
  readyVoters: integer('The number of voting members that answer and whose pods are ready.', 0, 7),
  voters: integer('The number of voting members.', 0, 7),
  learner: text('The pod of the member that is being added.', 253),
  leader: text('The pod of the leader.', 253),
  version: text('The version of the cluster.', 32),
  minVersion: text('The lowest version of etcd that a member runs.', 32),
  lastBackup: object('The newest good backup.', {
    'id!': text('The id of its snapshot.', 253),
    'at!': time('The time at which it was taken.'),
    schedule: text('The name of its schedule.', 63),
    revision: backupRevision,
    sizeBytes: integer('The size in bytes of the decrypted and decompressed snapshot.', 0),
    sha256: text('The SHA-256 of the decrypted and decompressed snapshot.', 64),
    verified: text('The verification level that it passed: stream, read or open.', 32),
  }),
  lastRestoreId: text('The id of the newest restore.', 253),
  operation: named(
    'CurrentOperation',
    operation(
      'The operation in progress: a change of the cluster, from its beginning until the cluster is Ready again. Missing while there is none.',
      { next: list('The steps that follow, as far as they are known.', text('A step.', 256), 0, 16) },
    ),
  ),
  lastOperation: named(
    'LastOperation',
    operation('The newest operation that ended.', {
      endedAt: time('The time at which it ended.'),
      outcome: text(
        'Completed: its goal was reached. Failed: it ended without it. Superseded: it gave way to another operation, or was given up, for example because the spec was changed back.',
        32,
      ),
    }),
  ),
  waiting: object('What the next action of the reconciler waits for. Missing unless it has waited for 15 seconds.', {
    'for!': text(
      'The rule that waits, and the first condition that does not hold yet. docs/reference/state-machine.md lists both.',
      512,
    ),
    'since!': time('The time since when that rule waits.'),
  }),
  maintenance: object('What came of the newest requests of spec.maintenance.', {
    defragment: named('MaintenanceOutcome', request('Its newest defragmentation.', last)),
    moveLeader: named('MaintenanceOutcome', request('The newest request to move the leader.', last)),
  }),
  reconciler: object('The reconciler that wrote this status.', {
    'lease!': text('The name of the Lease that it holds, in the namespace of the cluster.', 253),
    'version!': text('Its version.', 64),
  }),
  observedAt: time(
    'The time of this status. The reconciler updates it at every change, and every ten minutes without one.',
  ),
  certificates: list(
    'With tls.managed: the certificates that the reconciler issued.',
    named(
      'CertificateStatus',
      object('A certificate.', {
        'secret!': text('The name of its Secret.', 253),
        'notAfter!': time('The time at which it expires.'),
        renewAt: time('The time at which the reconciler renews it.'),
        root: text('The first 16 hex digits of the SHA-256 of the root that it chains to.', 64),
        revoked: list(
          'Of an authority: the serial numbers of the intermediates that it has revoked, in hex. They stay known here when all Secrets come back from a backup.',
          text('A serial number.', 64, { pattern: '^[0-9A-Fa-f]+$' }),
          0,
          2_000,
        ),
      }),
    ),
    0,
    16,
    mapBy('secret'),
  ),
  members: list('The state of each member.', member, 0, 16, mapBy('ordinal')),
  conditions: conditions(
    'Available, Ready, Reconciling, Progressing, Degraded, QuorumLost, Stalled, Alarm, BackupHealthy, CertificatesReady, TransportReady, AuthReady, VersionSafe, Accepted',
  ),
});

export const etcdCluster = crd({
  kind: 'EtcdCluster',
  plural: 'etcdclusters',
  shortName: 'etcd',
  description:
    'An etcd cluster. This object alone does not start anything: `npx cdk8s-etcd render` makes its StatefulSet and all other objects of it, and `new EtcdCluster(chart, NAME)` in TypeScript makes all of them.',
  nameLength: 50,
  spec,
  status,
  scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.voters' },
  columns: [
    column('Size', '.spec.size', { type: 'integer', description: 'The desired number of voting members.' }),
    column('Voters', '.status.voters', { type: 'integer', description: 'The present number of voting members.' }),
    column('Ready', '.status.readyVoters', {
      type: 'integer',
      description: 'The number of voting members that answer and whose pods are ready.',
    }),
    column('Version', '.status.version'),
    column('Leader', '.status.leader'),
    column('Phase', '.status.phase'),
    column('Backup-Age', '.status.lastBackup.at', { type: 'date', description: 'The age of the newest good backup.' }),
    column('Observed', '.status.observedAt', {
      type: 'date',
      description: 'The age of this status. If it is more than 15 minutes, no reconciler manages the cluster.',
    }),
    ageColumn,
    ...reasonColumns,
  ],
  rules: rules(
    [
      "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
      'metadata.name must be a DNS label that begins with a letter, such as orders, because the names of Services and pods begin with it',
    ],
    [
      "!self.metadata.name.matches('-(peers|jobs|etcd-reconciler|[0-9]+-(client|external))$')",
      'metadata.name must not end in -peers, -jobs, -etcd-reconciler, -<number>-client or -<number>-external, because objects of other clusters may have such names',
    ],
    [
      // Without spec.tls the reconciler could not call members that use https.
      "has(self.spec.tls) || !has(oldSelf.spec.tls) || (has(oldSelf.spec.tls.disabling) && oldSelf.spec.tls.disabling) || !has(oldSelf.status) || !has(oldSelf.status.conditions) || !oldSelf.status.conditions.exists(each, each.type == 'TransportReady' && each.reason == 'Tls')",
      'tls cannot be removed while the members use their certificates: apply EtcdTls.none({ previous: … }) first, with the tls that the cluster has (in YAML: tls.disabling: true)',
      { fieldPath: '.spec.tls', reason: 'FieldValueForbidden' },
    ],
    [
      `${accountOf('self.spec', 'self.metadata.name')} != ${reconcilerAccount}`,
      'serviceAccountName is that of the reconciler, whose rights members must not have: name another ServiceAccount. By default it is the name of the cluster',
      { fieldPath: '.spec.serviceAccountName' },
    ],
    [
      `!has(self.spec.origin) || !has(self.spec.origin.serviceAccountName) || self.spec.origin.serviceAccountName != ${reconcilerAccount}`,
      jobAccountRule[1],
      { fieldPath: '.spec.origin.serviceAccountName' },
    ],
    [
      // The API server takes the name to be long: joining it twice would be too much.
      `!has(self.spec.backup) || !has(self.spec.backup.schedules) || self.spec.backup.schedules.all(each, ${accountOf('each', "(has(each.cronJobName) ? each.cronJobName : self.metadata.name + ('-' + each.name))")} != ${reconcilerAccount})`,
      'a schedule has the ServiceAccount of the reconciler, whose rights a backup must not have: give it another serviceAccountName. By default it is the name of its CronJob',
      { fieldPath: '.spec.backup.schedules' },
    ],
    [
      '!has(self.spec.backup) || !has(self.spec.backup.schedules) || self.spec.backup.schedules.all(each, has(each.cronJobName) || self.metadata.name.size() + each.name.size() < 52)',
      'the name of a CronJob, <cluster>-<schedule>, has more than 52 characters: shorten the name of the schedule or of the cluster, or give cronJobName',
      { fieldPath: '.spec.backup.schedules' },
    ],
    ...tlsNameRules,
  ),
});
