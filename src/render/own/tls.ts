import type { EtcdClusterProps } from '../../cluster/etcd-cluster-props';
import { EtcdTls, type ManagedTlsProps } from '../../tls/etcd-tls';
import { type LeafSecret, managedSecretNames, otherSecretNames, trustSecretName } from '../../tls/tls-names';
import type { Document } from '../documents';
import type { Fields } from '../fields';
import { durationField } from '../units';

type Tls = Pick<EtcdClusterProps, 'tls' | 'clusterDomain'>;

/** Reads `spec.tls`. */
export function ownTls(document: Document): Tls {
  const { spec, report } = document;
  const fields = spec.object('tls');
  if (!fields) {
    report.note(
      'spec.tls',
      'is missing, so clients and members use plain http; add tls: { managed: {} } for certificates that the reconciler issues',
    );
    return { tls: EtcdTls.none() };
  }
  const from = certificates(document, fields);
  return fields.boolean('disabling') ? { ...from, tls: EtcdTls.none({ previous: from.tls }) } : from;
}

function certificates({ name, report }: Document, fields: Fields): Tls {
  const managed = fields.object('managed');
  const other = otherSource(name, fields);
  const options = { acceptPlaintextFor: durationField(fields, 'acceptPlaintextFor'), alsoTrust: other?.tls };
  if (managed) return managedTls(name, fields, managed, options);
  const client = fields.required('clientSecret');
  const { peer, server } = otherSecretNames(name);
  report.note(
    'spec.tls',
    `the members read their certificates from the Secrets ${peer} and ${server}, which you must create; cert-manager Certificates can be rendered only from TypeScript`,
  );
  const [root, backup] = [fields.text('rootSecret'), fields.text('backupSecret')];
  return {
    clusterDomain: other?.clusterDomain,
    tls: EtcdTls.fromSecrets({ peer, server, client, root, backup, ...options }),
  };
}

const leafSecrets: readonly LeafSecret[] = ['clientSecret', 'rootSecret', 'backupSecret'];

function managedTls(
  name: string,
  leaves: Fields,
  fields: Fields,
  options: Pick<ManagedTlsProps, 'acceptPlaintextFor' | 'alsoTrust'> = {},
): Tls {
  const secrets = managedSecretNames(name);
  for (const [key, secret] of Object.entries(secrets))
    requireName(leafSecrets.some((leaf) => leaf === key) ? leaves : fields, key, secret);
  return {
    clusterDomain: fields.text('clusterDomain'),
    tls: EtcdTls.managed({
      serverNames: fields.strings('serverNames'),
      intermediateRotation: fields.text('intermediateRotation'),
      rootRotation: fields.text('rootRotation'),
      intermediateRevocation: fields.text('intermediateRevocation'),
      ...options,
    }),
  };
}

/** The source of `alsoTrust`: the reconciler, or Secrets of the user with the names that they have without it. */
function otherSource(name: string, tls: Fields): Tls | undefined {
  const fields = tls.object('alsoTrust');
  if (!fields) return undefined;
  const managed = fields.object('managed');
  const sources = [managedSecretNames(name), secretsOfUser(name, fields.strings('clientSecrets')?.[managed ? 0 : 1])];
  const [first, second] = (managed ? sources.reverse() : sources) as [Secrets, Secrets];
  requireName(fields, 'trustSecret', trustSecretName(name));
  requireNames(fields, 'peerSecrets', first.peerSecret, second.peerSecret);
  requireNames(fields, 'serverSecrets', first.serverSecret, second.serverSecret);
  requireNames(fields, 'clientSecrets', first.clientSecret, second.clientSecret);
  if (managed) return managedTls(name, managed, managed);
  const { peerSecret: peer, serverSecret: server, clientSecret: client } = second;
  return { tls: EtcdTls.fromSecrets({ peer, server, client }) };
}

type Secrets = Pick<ReturnType<typeof managedSecretNames>, 'peerSecret' | 'serverSecret' | 'clientSecret'>;

function secretsOfUser(name: string, client: string | undefined): Secrets {
  const names = otherSecretNames(name);
  return { peerSecret: names.peer, serverSecret: names.server, clientSecret: client ?? names.client };
}

function requireName(fields: Fields, key: string, name: string): void {
  const given = fields.text(key);
  if (given !== undefined && given !== name)
    fields.report.error(
      fields.at(key),
      `'${given}' is not the name of this Secret; write ${name}, or leave the field out`,
    );
}

function requireNames(fields: Fields, key: string, ...names: string[]): void {
  const given = fields.strings(key);
  if (given !== undefined && `${given}` !== `${names}`)
    fields.report.error(
      fields.at(key),
      `[${given.join(', ')}] are not the names of these Secrets; write [${names.join(', ')}], or leave the field out`,
    );
}
