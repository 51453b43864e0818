// Where backups lie: the shape of BackupPodStore in src/lib/backup-pod.ts.
import {
  choice,
  duration,
  flag,
  folder,
  integer,
  list,
  mapBy,
  matching,
  object,
  objectName,
  oneOf,
  rules,
  secretName,
  text,
  timeZone,
} from './schema.mjs';

const key = /^[-._a-zA-Z0-9]+$/;
const items = list(
  'Which keys become files, and under which names. Default: every key, under its own name.',
  object('A key and its file.', {
    'key!': matching('The key.', 253, key, "is no key: use letters, digits, '-', '_' and '.'"),
    'path!': matching(
      'The name of the file.',
      253,
      /^[-._a-zA-Z0-9]*[-_a-zA-Z0-9][-._a-zA-Z0-9]*$/,
      "is no name of a file: use letters, digits, '-', '_' and '.'",
    ),
  }),
  1,
  16,
  mapBy('path'),
);

/** Files from a Secret. */
export const secretFiles = (description) =>
  object(description, { 'secretName!': secretName("A Secret of this object's namespace."), items });

/** Files from a Secret or a ConfigMap. */
export const files = (description) =>
  object(
    description,
    {
      secretName: secretName("A Secret of this object's namespace."),
      configMapName: objectName("A ConfigMap of this object's namespace.", 'ConfigMap'),
      items,
    },
    rules([oneOf('secretName', 'configMapName'), 'name exactly one of secretName and configMapName']),
  );

const ca = files('`ca.crt`: the authorities that signed the certificate of the server. Default: public ones.');

const s3 = object(
  'A bucket of AWS S3, Ceph RGW, MinIO or another server that speaks S3. The bucket must exist.',
  {
    'bucket!': matching(
      'The name of the bucket.',
      63,
      /^[a-z0-9][a-z0-9.-]+[a-z0-9]$/,
      "is no bucket name: use 3 to 63 lower-case letters, digits, '-' and '.', and put a path into prefix",
    ),
    prefix: folder('The folder within the bucket, such as etcd/eu. Default: the root.'),
    region: text('The region of the bucket.', 64),
    endpoint: text('The URL of a server other than AWS. Without a scheme https is meant.'),
    pathStyle: flag('The bucket is named in the path of the URL. Default: true with an endpoint, false on AWS.'),
    profile: text('The profile within the AWS shared files. Default: default.', 128),
    serverSideEncryption: choice('How the server encrypts what it stores. Default: as the bucket says.', [
      'AES256',
      'aws:kms',
    ]),
    kmsKeyId: text("The key of aws:kms. Default: the bucket's, or the one that the server manages.", 2048),
    sseCustomerKey: secretFiles('`key`: the 32 bytes that the server encrypts with and does not keep (SSE-C).'),
    ca,
    credentials: secretFiles(
      'The access key, under one of the names that docs/backups/stores.md lists. Default: the identity that the ServiceAccount gives (workload identity).',
    ),
  },
  rules(
    [
      "!has(self.endpoint) || self.endpoint.matches(r'^((https?://)?[^\\s/@?#]+/?)?$')",
      'endpoint is no S3 server: write https://HOST:PORT, without user, password or path',
    ],
    [
      "!has(self.kmsKeyId) || (has(self.serverSideEncryption) && self.serverSideEncryption == 'aws:kms')",
      "kmsKeyId needs serverSideEncryption: 'aws:kms'",
    ],
    [
      '!has(self.sseCustomerKey) || !has(self.serverSideEncryption)',
      'sseCustomerKey excludes serverSideEncryption: remove one of them',
    ],
    [
      "!has(self.sseCustomerKey) || !has(self.endpoint) || !self.endpoint.startsWith('http://')",
      'sseCustomerKey would cross the network in plain text: write https:// in endpoint',
    ],
    [
      "!has(self.ca) || !has(self.endpoint) || !self.endpoint.startsWith('http://')",
      'ca is of no use with http://: write https:// in endpoint, or remove ca',
    ],
  ),
);

const oss = object('A bucket of Alibaba Cloud OSS, through its S3-compatible endpoint. The bucket must exist.', {
  'bucket!': matching(
    'The name of the bucket.',
    63,
    /^[a-z0-9][a-z0-9-]+[a-z0-9]$/,
    "is no bucket name: use 3 to 63 lower-case letters, digits and '-', and put a path into prefix",
  ),
  prefix: folder('The folder within the bucket, such as etcd/eu. Default: the root.'),
  region: text('The region of the bucket, such as eu-central-1. Default: that of the endpoint, else cn-hangzhou.', 64),
  endpoint: matching(
    'The host of OSS, such as oss-eu-central-1-internal.aliyuncs.com. Default: the public one of the region.',
    1024,
    /^((https?:\/\/)?[a-zA-Z0-9.-]+(:[0-9]{1,5})?\/?)?$/,
    'is no host of OSS: write it like oss-eu-central-1.aliyuncs.com, without user, password or path',
  ),
  ca,
  'credentials!': secretFiles('`accessKeyID` and `accessKeySecret`.'),
});

const sftp = object('A directory on an SFTP server.', {
  'host!': matching(
    'The host name or address of the server.',
    253,
    /^[^\s/@?#[\]]+$/,
    'is no host name or address: give only that, and the port in port',
  ),
  port: integer('The port of the server. Default: 22.', 1, 65535),
  username: text('The user to log in as. Default: `username` from the credentials.', 256, { minLength: 1 }),
  path: matching(
    'The directory, created where missing; without a slash at its beginning it lies below the directory of the login.',
    1024,
    /^\/?([^/]+\/)*[^/]*$/,
    'is no directory: write it like /backup/etcd, without double slashes',
  ),
  hostKey: matching(
    'The key of the server: its fingerprint or its public key. Default: `knownHosts` from the credentials.',
    2048,
    /^(SHA256:[A-Za-z0-9+/]{43}=?|(ssh|ecdsa)-[^\s]+ +[A-Za-z0-9+/]{40,}=*( .*)?)$/,
    'is no host key: write SHA256:… or ssh-ed25519 AAAA…, as ssh-keyscan and ssh-keygen -lf print it',
  ),
  legacyAlgorithms: flag('Lets an old server use SHA-1. Default: false.'),
  'credentials!': secretFiles('`username`, `password` or `privateKey` (with `passphrase`), and `knownHosts`.'),
});

const filesystem = object(
  'A volume.',
  {
    persistentVolumeClaim: object('A PersistentVolumeClaim of this namespace.', {
      'claimName!': objectName('Its name.', 'PersistentVolumeClaim'),
    }),
    nfs: object('An NFS export. Namespaces that enforce the restricted Pod Security Standard refuse it.', {
      'server!': matching('Its host name or address.', 253, /^[^\s/]+$/, 'is no host name or address: give only that'),
      'path!': matching('The exported path.', 1024, /^\//, 'is not absolute: write it like /srv/backup'),
    }),
    directory: folder('The folder within the volume, created where missing. Default: the root.'),
  },
  rules([oneOf('persistentVolumeClaim', 'nfs'), 'name exactly one of persistentVolumeClaim and nfs']),
);

const command = object(
  'Executables of your own, one per verb, in an image of your own (docs/backups/command-store.md).',
  {
    'path!': matching(
      'The directory in the image that holds them.',
      1024,
      /^(\/[^/]+)+$/,
      'is no absolute path: write it like /opt/store',
    ),
    env: {
      type: 'object',
      description: 'What they find in their environment. No secrets: everybody who sees this object can read it.',
      maxProperties: 32,
      additionalProperties: { type: 'string', maxLength: 1024 },
      ...rules([
        "self.all(name, name.matches('^[A-Za-z_][A-Za-z0-9_]*$'))",
        "names a variable in a way that no shell knows: use letters, digits and '_'",
      ]),
    },
    idleTimeout: duration('How long one may show no sign of life. Default: 60s.'),
    credentials: secretFiles('Files in the directory that CREDENTIALS_DIRECTORY names in their environment.'),
  },
);

const keep = (description) => integer(description, 1, 100000);
const retention = object(
  'Which backups to keep; one that any rule keeps is kept. Default: all.',
  {
    last: keep('The newest so many.'),
    within: duration('All that were taken within this time before the newest one, such as 30d.'),
    hourly: keep('The newest one of each of so many hours.'),
    daily: keep('The newest one of each of so many days.'),
    weekly: keep('The newest one of each of so many weeks.'),
    monthly: keep('The newest one of each of so many months.'),
    yearly: keep('The newest one of each of so many years.'),
    minKeep: keep('Never leave fewer than so many. Default: 3, or `last` alone when that is fewer.'),
    timeZone: timeZone('Where hours, days, weeks, months and years begin. Default: UTC.'),
  },
  rules([
    'has(self.last) || has(self.within) || has(self.hourly) || has(self.daily) || has(self.weekly) || has(self.monthly) || has(self.yearly)',
    'keeps nothing: give last, within, hourly, daily, weekly, monthly or yearly, or no retention to keep everything',
  ]),
);

const kinds = { s3, oss, sftp, filesystem, command };
const oneKind = rules([
  oneOf(...Object.keys(kinds)),
  `name exactly one of ${Object.keys(kinds).join(', ')}: that is where backups lie`,
]);

export const store = (description) => object(description, kinds, oneKind);
export const scheduledStore = object('Where the backups of a schedule go.', { ...kinds, retention }, oneKind);

/** The image and the identity of a Job that works on a store. */
export const jobIdentity = {
  serviceAccountName: objectName(
    'The ServiceAccount of the Job, for a store that knows the agent by it (workload identity). Default: one without rights.',
    'ServiceAccount',
  ),
  image: text('The image of the Job, with the agent and the executables of a `command` store. Default: the agent.'),
};
