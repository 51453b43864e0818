// The store of a backup. It has the shape of BackupPodStore in src/lib/backup-pod.ts.
import {
  choice,
  duration,
  flag,
  folder,
  hostPath,
  integer,
  isPlain,
  list,
  mapBy,
  matching,
  named,
  object,
  objectName,
  oneOf,
  rules,
  secretName,
  text,
  timeZone,
  withDefault,
} from './schema.mjs';

const key = /^[-._a-zA-Z0-9]+$/;
const items = list(
  'The keys that become files, and the names of these files. Default: every key becomes a file with the same name.',
  object('A key and its file.', {
    'key!': matching('The key.', 253, key, "is not a valid key: use letters, digits, '-', '_' and '.'"),
    'path!': matching(
      'The name of the file.',
      253,
      /^[-._a-zA-Z0-9]*[-_a-zA-Z0-9][-._a-zA-Z0-9]*$/,
      "is not a valid name of a file: use letters, digits, '-', '_' and '.'",
    ),
  }),
  1,
  16,
  mapBy('path'),
);

/** Schema of files from a Secret. */
export const secretFiles = (description) =>
  named(
    'FilesOfSecret',
    object(description, { 'secretName!': secretName("The name of a Secret in this object's namespace."), items }),
  );

/** Schema of files from a Secret or a ConfigMap. */
export const files = (description) =>
  named(
    'FilesOfObject',
    object(
      description,
      {
        secretName: secretName("The name of a Secret in this object's namespace."),
        configMapName: objectName("The name of a ConfigMap in this object's namespace.", 'ConfigMap'),
        items,
      },
      rules([oneOf('secretName', 'configMapName'), 'give exactly one of secretName and configMapName']),
    ),
  );

const texts = (all) => `[${all.map((each) => `'${each}'`).join(', ')}]`;

/** Rules about the items of a field: the files that are used, and those of them that must be there if there are items. */
export function itemRules(field, used, needed = used) {
  const items = `self.${field}.items`;
  const none = `!has(self.${field}) || !has(${items})`;
  const fieldPath = `.${field}.items`;
  const unused = [
    `${none} || ${items}.all(item, item.path in ${texts(used)})`,
    `items has a file that is not used: write one of ${used.join(', ')} in path`,
    { fieldPath },
  ];
  const missing = [
    `${none} || ${texts(needed)}.all(path, ${items}.exists(item, item.path == path))`,
    `items lacks a file: give ${needed.join(' and ')}, or leave items out if these are the keys`,
    { fieldPath },
  ];
  return needed.length > 0 ? [unused, missing] : [unused];
}

const ca = files(
  'The file `ca.crt` with the authorities that signed the certificate of the server. Default: public authorities.',
);

const s3 = object(
  'A bucket in AWS S3, Ceph RGW, MinIO or another server with the S3 API. The bucket must exist.',
  {
    'bucket!': text(
      'The name of the bucket.',
      63,
      rules([
        "self.matches(r'^[a-z0-9][a-z0-9.-]+[a-z0-9]$') && !self.matches(r'[.][.]|^[0-9.]+$')",
        "is not a valid bucket name: use 3 to 63 lower-case letters, digits, '-' and '.', and put a path into prefix",
      ]),
    ),
    prefix: folder('The folder within the bucket, such as etcd/eu. Default: the root.'),
    region: text('The region of the bucket.', 64),
    endpoint: text('The URL of a server other than AWS. Without a scheme, https is used.'),
    pathStyle: flag(
      'Puts the name of the bucket into the path of the URL. Default: true with an endpoint, false on AWS.',
    ),
    profile: withDefault('default', text('The profile in the AWS shared files.', 128)),
    serverSideEncryption: choice("How the server encrypts the objects. Default: the bucket's own setting.", [
      'AES256',
      'aws:kms',
    ]),
    kmsKeyId: text(
      "The id of the key for aws:kms. Default: the bucket's key, or the key that the server manages.",
      2048,
    ),
    sseCustomerKey: secretFiles(
      'The file `key` with the 32 bytes for SSE-C. The server encrypts with this key and does not keep it.',
    ),
    ca,
    credentials: secretFiles(
      'The access key, under one of the names that docs/backups/stores.md lists. Default: the workload identity of the ServiceAccount.',
    ),
  },
  rules(
    [
      "!has(self.endpoint) || self.endpoint.matches(r'^((https?://)?([^\\s/@?#:\\[\\]]+|\\[[0-9a-fA-F:.]+\\])(:[0-9]{1,5})?/?)?$')",
      'endpoint is not a valid S3 server: write https://HOST:PORT, without user, password or path',
      { fieldPath: '.endpoint' },
    ],
    [
      "!has(self.kmsKeyId) || (has(self.serverSideEncryption) && self.serverSideEncryption == 'aws:kms')",
      "kmsKeyId needs serverSideEncryption 'aws:kms': set it, or remove kmsKeyId",
      { fieldPath: '.kmsKeyId' },
    ],
    [
      '!has(self.sseCustomerKey) || !has(self.serverSideEncryption)',
      'sseCustomerKey cannot be combined with serverSideEncryption: remove one of them',
      { fieldPath: '.sseCustomerKey' },
    ],
    [
      "!has(self.sseCustomerKey) || !has(self.endpoint) || !self.endpoint.startsWith('http://')",
      'sseCustomerKey would cross the network in plain text: write https:// in endpoint',
      { fieldPath: '.sseCustomerKey' },
    ],
    [
      "!has(self.ca) || !has(self.endpoint) || !self.endpoint.startsWith('http://')",
      'ca has no effect with http://: write https:// in endpoint, or remove ca',
      { fieldPath: '.ca' },
    ],
    ...itemRules('ca', ['ca.crt']),
    ...itemRules('sseCustomerKey', ['key']),
    ...itemRules(
      'credentials',
      ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
      ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
    ),
  ),
);

const oss = object(
  'A bucket in Alibaba Cloud OSS, used through its S3-compatible endpoint. The bucket must exist.',
  {
    'bucket!': matching(
      'The name of the bucket.',
      63,
      /^[a-z0-9][a-z0-9-]+[a-z0-9]$/,
      "is not a valid bucket name: use 3 to 63 lower-case letters, digits and '-', and put a path into prefix",
    ),
    prefix: folder('The folder within the bucket, such as etcd/eu. Default: the root.'),
    region: text(
      'The region of the bucket, such as eu-central-1. Default: the region of the endpoint, else cn-hangzhou.',
      64,
    ),
    endpoint: matching(
      'The host of OSS, such as oss-eu-central-1-internal.aliyuncs.com. Default: the public endpoint of the region.',
      1024,
      /^((https?:\/\/)?[a-z0-9.-]*[a-z][a-z0-9-]*\.?(:[0-9]{1,5})?\/?)?$/,
      'is not a valid OSS host: write it like oss-eu-central-1.aliyuncs.com, without user, password or path',
    ),
    ca,
    'credentials!': secretFiles('The files `accessKeyID` and `accessKeySecret`.'),
  },
  rules(...itemRules('ca', ['ca.crt']), ...itemRules('credentials', ['accessKeyID', 'accessKeySecret'])),
);

const sftp = object(
  'A directory on an SFTP server.',
  {
    'host!': matching(
      'The host name or IP address of the server.',
      253,
      /^[^\s/@?#[\]]+$/,
      'is not a valid host name or address: give only that, and the port in port',
    ),
    port: withDefault(22, integer('The port of the server.', 1, 65535)),
    username: text('The user to log in as. Default: `username` from the credentials.', 256, { minLength: 1 }),
    path: text(
      'The directory, which is created if it does not exist. A path without a leading slash is relative to the login directory.',
      1024,
      rules([
        `!self.contains('//') && ${isPlain}`,
        "is not a valid directory: write it like /backup/etcd, without '.', '..' or double slashes",
      ]),
    ),
    hostKey: matching(
      'The host key of the server: its fingerprint or its public key. Default: `knownHosts` from the credentials.',
      2048,
      /^(SHA256:[A-Za-z0-9+/]{43}=?|(ssh|ecdsa)-[^\s]+ +[A-Za-z0-9+/]{40,}=*( .*)?)$/,
      'is not a valid host key: write SHA256:… or ssh-ed25519 AAAA…, as ssh-keyscan and ssh-keygen -lf print it',
    ),
    legacyAlgorithms: withDefault(false, flag('Allows algorithms with SHA-1 for an old server.')),
    'credentials!': secretFiles(
      'The files `username`, `password` or `privateKey` (with `passphrase`), and `knownHosts`.',
    ),
  },
  rules(...itemRules('credentials', ['username', 'password', 'privateKey', 'passphrase', 'knownHosts'], [])),
);

const filesystem = object(
  'A volume.',
  {
    persistentVolumeClaim: object('A PersistentVolumeClaim in this namespace.', {
      'claimName!': objectName('The name of the PersistentVolumeClaim.', 'PersistentVolumeClaim'),
    }),
    nfs: object('An NFS export. Namespaces that enforce the restricted Pod Security Standard refuse it.', {
      'server!': matching(
        'The host name or IP address of the server.',
        253,
        /^[^\s/]+$/,
        'is not a valid host name or address: give only that',
      ),
      'path!': matching('The exported path.', 1024, /^\//, 'is not absolute: write it like /srv/backup'),
    }),
    directory: folder('The folder within the volume, which is created if it does not exist. Default: the root.'),
  },
  rules([oneOf('persistentVolumeClaim', 'nfs'), 'give exactly one of persistentVolumeClaim and nfs']),
);

/** The same, also of the node on which a pod runs. */
const nodeFilesystem = object(
  'A volume, or a directory of the node.',
  {
    ...filesystem.properties,
    hostPath: hostPath(
      'A directory of the node, for the backup of a control plane. It is created if it does not exist. Each node has its own backups there, and they are lost with the node.',
    ),
  },
  rules([
    oneOf('persistentVolumeClaim', 'nfs', 'hostPath'),
    'give exactly one of persistentVolumeClaim, nfs and hostPath',
  ]),
);

const command = object('Your own executables, one per operation, in your own image (docs/backups/command-store.md).', {
  'path!': text(
    'The directory in the image with the executables.',
    1024,
    rules([`self.matches(r'^(/[^/]+)+$') && ${isPlain}`, 'is not an absolute path: write it like /opt/store']),
  ),
  env: {
    type: 'object',
    description:
      'The environment variables of the executables. Do not put secrets here: everyone who can read this object can read them.',
    maxProperties: 32,
    additionalProperties: { type: 'string', maxLength: 1024 },
    ...rules([
      "self.all(name, name.matches('^[A-Za-z_][A-Za-z0-9_]*$'))",
      "has an invalid name of a variable: use letters, digits and '_', beginning with a letter or '_'",
    ]),
  },
  idleTimeout: withDefault(
    '60s',
    duration('The longest time in which an executable may neither read, nor write, nor end.'),
  ),
  credentials: secretFiles('Files in the directory whose path is in the environment variable CREDENTIALS_DIRECTORY.'),
});

const keep = (description) => integer(description, 1, 100000);
const retention = named(
  'BackupRetentionSpec',
  object(
    'The backups to keep. A backup is kept if at least one rule selects it. Default: all backups.',
    {
      last: keep('Keeps this number of newest backups.'),
      within: duration('Keeps all backups that were taken within this time before the newest one, such as 30d.'),
      hourly: keep('Keeps the newest backup of each hour, for this number of hours that have backups.'),
      daily: keep('Keeps the newest backup of each day, for this number of days that have backups.'),
      weekly: keep('Keeps the newest backup of each week, for this number of weeks that have backups.'),
      monthly: keep('Keeps the newest backup of each month, for this number of months that have backups.'),
      yearly: keep('Keeps the newest backup of each year, for this number of years that have backups.'),
      minKeep: keep(
        'The smallest number of backups to keep. Default: 3, or `last` if it is the only rule and smaller than 3.',
      ),
      timeZone: withDefault('UTC', timeZone('The time zone in which hours, days, weeks, months and years begin.')),
    },
    rules([
      'has(self.last) || has(self.within) || has(self.hourly) || has(self.daily) || has(self.weekly) || has(self.monthly) || has(self.yearly)',
      'keeps nothing: give last, within, hourly, daily, weekly, monthly or yearly, or no retention to keep everything',
    ]),
  ),
);

const kinds = {
  s3: named('S3StoreSpec', s3),
  oss: named('OssStoreSpec', oss),
  sftp: named('SftpStoreSpec', sftp),
  filesystem: named('FilesystemStoreSpec', filesystem),
  command: named('CommandStoreSpec', command),
};
const oneKind = rules([oneOf(...Object.keys(kinds)), `give exactly one of ${Object.keys(kinds).join(', ')}`]);

export const store = (description) => named('BackupStoreSpec', object(description, kinds, oneKind));
export const scheduledStore = named(
  'ScheduledStoreSpec',
  object('A store for the backups of a schedule.', { ...kinds, retention }, oneKind),
);

/** A store of a schedule that no cluster has. */
export const ownScheduledStore = named(
  'NodeStoreSpec',
  object(
    'A store for the backups of a schedule.',
    { ...kinds, filesystem: named('NodeFilesystemStoreSpec', nodeFilesystem), retention },
    oneKind,
  ),
);

const amounts = (description) =>
  named(
    'ResourceAmounts',
    object(description, {
      cpu: text(
        'CPU, in cores or thousandths of a core.',
        32,
        rules([
          "isQuantity(self) && quantity(self).compareTo(quantity('0')) > 0",
          'is not a valid amount of CPU above zero: write it like 100m or 0.5',
        ]),
      ),
      memory: text(
        'Memory.',
        32,
        // A forgotten unit counts bytes, and `512m` is half a byte.
        rules([
          "isQuantity(self) && quantity(self).compareTo(quantity('1Mi')) >= 0",
          'is not a valid amount of memory of at least 1Mi: write it like 100Mi or 2Gi',
        ]),
      ),
    }),
  );
const requestWithinLimit = (name) => [
  `!has(self.requests) || !has(self.limits) || !has(self.requests.${name}) || !has(self.limits.${name}) || !isQuantity(self.requests.${name}) || !isQuantity(self.limits.${name}) || quantity(self.requests.${name}).compareTo(quantity(self.limits.${name})) <= 0`,
  `the request of ${name} is above its limit, so no pod can start: raise the limit or lower the request`,
];

/** The requests and limits of a container. */
export function resources(description) {
  return named(
    'ResourcesSpec',
    object(
      description,
      { requests: amounts('What the node reserves.'), limits: amounts('What the pod may use.') },
      rules(...['cpu', 'memory'].map(requestWithinLimit)),
    ),
  );
}

/** The identity, image and resources of a Job that accesses a store. */
export const jobIdentity = {
  serviceAccountName: objectName(
    'The ServiceAccount of the Job, for a store with workload identity. Default: a ServiceAccount without permissions.',
    'ServiceAccount',
  ),
  image: text(
    "The image of the Job. For a `command` store it must contain the executables and the agent. Default: the agent's image.",
  ),
  resources: resources(
    'The CPU and memory of the Job. A request stands for a missing limit of memory, and a limit for a missing request. Default: see docs/operations/sizing.md.',
  ),
};
