// How an etcd is reached that is known by its endpoints.
import { flag, list, matching, object, rules, set } from './schema.mjs';
import { files, itemRules, secretFiles } from './store.mjs';

const endpoint = matching(
  'A client URL, such as https://etcd-0.etcd:2379. Without a scheme, https is used with tls, else http.',
  512,
  /^(https?:\/\/)?([a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])?\.?|\[[0-9a-fA-F:.]+\]):([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])\/?$/,
  'is not a valid etcd endpoint: write https://HOST:2379, with the port and without a path',
);

export const tls = object(
  'TLS settings for endpoints.',
  {
    'files!': files('`ca.crt`, and `tls.crt` with `tls.key` for a client certificate.'),
    clientCertificate: flag('True if the files contain a client certificate.', { default: true }),
  },
  rules(
    [
      '!has(self.files.configMapName) || !self.clientCertificate',
      'the key of a client certificate must not be in a ConfigMap: use a Secret, or set clientCertificate: false',
    ],
    ...itemRules('files', ['ca.crt', 'tls.crt', 'tls.key'], ['ca.crt']),
    [
      "!self.clientCertificate || !has(self.files.items) || ['tls.crt', 'tls.key'].all(path, self.files.items.exists(item, item.path == path))",
      'items lacks a file of the client certificate: give tls.crt and tls.key, or set clientCertificate: false',
      { fieldPath: '.files.items' },
    ],
  ),
);

export const endpoints = (description) => list(description, endpoint, 1, 16, set);

export const auth = secretFiles('`username` and `password` of an etcd user with the role root, for endpoints.');

export const endpointRules = [
  [
    "has(self.tls) || !has(self.endpoints) || !self.endpoints.exists(each, each.startsWith('https://'))",
    'an https endpoint needs tls: give the Secret with its ca.crt',
    { fieldPath: '.tls', reason: 'FieldValueRequired' },
  ],
  [
    "!has(self.tls) || !has(self.endpoints) || !self.endpoints.exists(each, each.startsWith('http://'))",
    'an endpoint is plain http, but tls is given: write https://, or remove tls',
    { fieldPath: '.endpoints' },
  ],
  ...itemRules('auth', ['username', 'password']),
];
