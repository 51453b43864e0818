// The schema of `spec.tls` of an EtcdCluster.
import {
  choice,
  duration,
  durationOrZero,
  flag,
  list,
  matching,
  named,
  object,
  objectName,
  rules,
  secretName,
  set,
  withDefault,
} from './schema.mjs';

const changes = (description, what) =>
  matching(
    `Any text. If it changes, ${description}`,
    63,
    /^[A-Za-z0-9]([-A-Za-z0-9_.:]*[A-Za-z0-9])?$/,
    `is not a valid ${what}: use letters, digits, '-', '_', '.' and ':', such as 2026-11`,
  );

const serverNames = list(
  'Further DNS names and IP addresses in the certificate that members present to clients.',
  matching(
    'A DNS name, which may begin with *., or an IP address.',
    253,
    /^((\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*|[0-9a-fA-F]*:[0-9a-fA-F:.]*)$/,
    "is not a valid DNS name or IP address: use lower-case letters, digits, '-' and '.', such as etcd.example.com",
  ),
  0,
  64,
  set,
);

const managed = named(
  'ManagedTlsSpec',
  object('Lets the reconciler issue the certificates. The Secrets must exist: the reconciler only fills them.', {
    peerAuthority: secretName(
      'The Secret with the authority of the connections between members. Default: <cluster>-peer-ca.',
    ),
    clientAuthority: secretName('The Secret with the authority of servers and clients. Default: <cluster>-client-ca.'),
    serverNames,
    intermediateRotation: changes(
      'the reconciler creates new intermediate authorities and issues all certificates anew.',
      'rotation',
    ),
    intermediateRevocation: changes(
      'the reconciler issues all certificates anew and revokes the earlier intermediates, so that nobody with an earlier certificate can connect. No member restarts.',
      'revocation',
    ),
    rootRotation: changes(
      'the reconciler replaces the roots of both authorities. Each member must restart once.',
      'rotation',
    ),
  }),
);

const issuerKind = (description) => choice(description, ['Issuer', 'ClusterIssuer']);

const certManager = named(
  'CertManagerTlsSpec',
  object(
    'Lets cert-manager issue the certificates: its Certificates are objects of the cluster, and write the Secrets.',
    {
      'issuer!': objectName(
        'The Issuer or ClusterIssuer of all certificates, or with peerIssuer of those of servers and clients.',
        'Issuer',
      ),
      issuerKind: withDefault('Issuer', issuerKind('The kind of issuer.')),
      peerIssuer: objectName('Another issuer for the certificates that members use for each other.', 'Issuer'),
      peerIssuerKind: issuerKind('The kind of peerIssuer. Default: issuerKind.'),
      serverNames,
      duration: duration(
        'How long a certificate is valid, at least 1h. Default: 90 days, which is the default of cert-manager.',
      ),
      renewBefore: duration(
        'How long before it expires a certificate is renewed, at least 5m. Default: a third of duration.',
      ),
    },
    rules([
      '!has(self.peerIssuerKind) || has(self.peerIssuer)',
      'peerIssuerKind has no effect without peerIssuer: give both, or remove it',
    ]),
  ),
);

/** The fields of one source of certificates: its Secrets, and who writes them. */
const source = {
  peerSecret: secretName(
    'The Secret with the certificate that members use for each other. Default: <cluster>-peer-tls with managed, else <cluster>-peer-cert.',
  ),
  serverSecret: secretName(
    'The Secret with the certificate that members present to clients. Default: <cluster>-server-tls with managed, else <cluster>-server-cert.',
  ),
  clientSecret: secretName(
    'The Secret with a client certificate (ca.crt, tls.crt, tls.key): for clients, and without rootSecret and backupSecret for the reconciler and for backups too. Default: <cluster>-client-tls with managed, else <cluster>-client-cert.',
  ),
  rootSecret: secretName(
    'The Secret with a client certificate whose common name is root, for the reconciler and the members. Users of etcd need it. Default: <cluster>-root-tls with managed, <cluster>-root-cert with certManager, and none if clientSecret is given.',
  ),
  backupSecret: secretName(
    'The Secret with a client certificate whose common name is <cluster>-backup, for backups. Default: as that of rootSecret.',
  ),
  managed,
  certManager,
};

/** CEL: the source has its certificate of root. */
export const hasRoot = (source) =>
  `(has(${source}.rootSecret) || ((has(${source}.managed) || has(${source}.certManager)) && !has(${source}.clientSecret)))`;

/** CEL: the names of the Secrets of a source. Those that are missing are the names in src/tls/default-names.ts. */
function namesOf(source) {
  const either = (field, end) => `has(${field}) ? ${field} : self.metadata.name + ${end}`;
  const ofSource = (of) => either(`${source}.${of}Secret`, `(has(${source}.managed) ? '-${of}-tls' : '-${of}-cert')`);
  const ofAuthority = (of) => either(`${source}.managed.${of}Authority`, `'-${of}-ca'`);
  return [
    `[${['peer', 'server', 'client'].map(ofSource).join(', ')}]`,
    `(${hasRoot(source)} ? [${['root', 'backup'].map(ofSource).join(', ')}] : [])`,
    `(has(${source}.managed) ? [${['peer', 'client'].map(ofAuthority).join(', ')}] : [])`,
  ].join(' + ');
}

const [own, other] = ['self.spec.tls', 'self.spec.tls.alsoTrust'];
const hasOther = `has(${own}) && has(${other})`;
const trustSecret = `(has(${other}.trustSecret) ? ${other}.trustSecret : self.metadata.name + '-tls-trust')`;

const differs = (condition, source, fieldPath) => [
  `!(${condition}) || !(has(${source}.managed) || has(${source}.certManager)) || [${namesOf(source)}].all(names, names.all(one, names.exists_one(each, each == one)))`,
  'two certificates have the same Secret: give each a Secret of its own',
  { fieldPath },
];

/** Rules about the names of Secrets, which follow from that of the cluster. */
export const tlsNameRules = [
  differs(`has(${own})`, own, '.spec.tls'),
  differs(hasOther, other, '.spec.tls.alsoTrust'),
  [
    // The estimate of its costs does not know how long a list within another list is.
    `!(${hasOther}) || [${namesOf(other)} + [${trustSecret}]].all(others, !(${namesOf(own)}).exists(one, one in others) && others.exists_one(each, each == ${trustSecret}))`,
    'a Secret has more than one purpose, so not all of its contents could be kept: change by way of a source with other Secrets',
    { fieldPath: '.spec.tls.alsoTrust' },
  ],
];

const sourceRules = [
  [
    'has(self.rootSecret) == has(self.backupSecret)',
    'give both rootSecret and backupSecret, or neither',
    { fieldPath: '.rootSecret' },
  ],
  [
    '!has(self.managed) || !has(self.certManager)',
    'the certificates come from managed or from certManager: remove one of them',
    { fieldPath: '.certManager' },
  ],
];

export const tls = named(
  'TlsSpec',
  object(
    'TLS for clients and between members. Without it, both use plain http. It can be added later. To remove it, first set disabling. Without managed and certManager, something else writes the Secrets.',
    {
      ...source,
      disabling: flag(
        'Switches TLS off. The members keep their certificates until all of them speak http; then remove tls.',
      ),
      acceptPlaintextFor: withDefault(
        '24h',
        durationOrZero(
          'While TLS is switched on: for how long clients may use http beside https, from the first step on.',
        ),
      ),
      alsoTrust: named(
        'AlsoTrustSpec',
        object(
          'Another source of certificates, whose authorities the members trust too, while the cluster changes from one source to the other.',
          {
            trustSecret: secretName(
              'The Secret with the authorities of both sources. It must exist: the reconciler fills it. Default: <cluster>-tls-trust.',
            ),
            ...source,
          },
          rules(...sourceRules),
        ),
      ),
    },
    rules(
      [
        'has(self.managed) == has(oldSelf.managed) || (has(self.alsoTrust) && has(oldSelf.alsoTrust))',
        'managed cannot be added or removed in one step: the members would not trust each other. First give the other source in alsoTrust',
        { fieldPath: '.managed', reason: 'FieldValueForbidden' },
      ],
      [
        '!has(self.managed) || !has(self.alsoTrust) || !has(self.alsoTrust.managed)',
        'managed is given twice: only one of the two sources can be the reconciler. Remove alsoTrust.managed',
        { fieldPath: '.alsoTrust' },
      ],
      ...sourceRules,
    ),
  ),
);
