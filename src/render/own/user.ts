import { EtcdPermission } from '../../users/etcd-permission';
import { userSecretName } from '../../users/etcd-user';
import type { Document } from '../documents';
import type { Fields } from '../fields';
import { metadataLabels } from '../metadata';
import type { PlannedUser } from '../plan';

export function ownUser(document: Document): PlannedUser | undefined {
  const { spec, name } = document;
  const labels = metadataLabels(document);
  const clusterName = spec.required('clusterName');
  if (!spec.has('permissions')) spec.report.error(spec.at('permissions'), 'is missing; give [] for none');
  const can = spec.objects('permissions').flatMap((fields) => permission(fields) ?? []);
  const userName = spec.text('userName') ?? name;
  const certificateSecret = spec.text('certificateSecret');
  const passwordSecret = spec.text('passwordSecret');
  if (certificateSecret !== undefined && passwordSecret !== undefined) {
    spec.report.error(spec.at('passwordSecret'), 'cannot be combined with certificateSecret; remove one of them');
  }
  if (clusterName === '') return undefined;
  // The library names the resource <cluster>-<id>.
  const id = name.startsWith(`${clusterName}-`) ? name.slice(clusterName.length + 1) : name;
  return {
    becomes: 'user',
    document,
    labels,
    clusterName,
    userName,
    can,
    secretName: passwordSecret ?? certificateSecret ?? userSecretName(clusterName, id),
    password: passwordSecret !== undefined,
    hasSecret: certificateSecret !== undefined,
  };
}

type Access = 'Read' | 'Write' | 'ReadWrite';

/** Returns the permission for keys of one kind. */
type Make = (fields: Fields, access: Access) => EtcdPermission;

const kinds: Readonly<Record<string, Make>> = {
  prefix: (fields, access) => {
    const prefix = fields.required('prefix');
    if (access === 'Read') return EtcdPermission.read(prefix);
    return access === 'Write' ? EtcdPermission.write(prefix) : EtcdPermission.readWrite(prefix);
  },
  key: (fields, access) => {
    const key = fields.required('key');
    if (access === 'Read') return EtcdPermission.readKey(key);
    return access === 'Write' ? EtcdPermission.writeKey(key) : EtcdPermission.readWriteKey(key);
  },
  range: (fields, access) => {
    const range = fields.object('range');
    const [from, to] = [range?.required('from') ?? '', range?.required('to') ?? ''];
    if (access === 'Read') return EtcdPermission.readRange(from, to);
    return access === 'Write' ? EtcdPermission.writeRange(from, to) : EtcdPermission.readWriteRange(from, to);
  },
  all: (fields, access) => {
    if (fields.boolean('all') === false) {
      fields.report.error(fields.at('all'), 'can only be true; remove it, and give prefix, key or range');
    }
    if (access === 'Read') return EtcdPermission.readAll();
    return access === 'Write' ? EtcdPermission.writeAll() : EtcdPermission.readWriteAll();
  },
};

function permission(fields: Fields): EtcdPermission | undefined {
  const given = Object.keys(kinds).filter((kind) => fields.has(kind));
  // Also those that are not read after a mistake.
  fields.ignore(...given);
  if (!fields.has('access')) fields.report.error(fields.at('access'), 'is missing; add it');
  const access = fields.oneOf('access', ['Read', 'Write', 'ReadWrite'] as const);
  if (given.length === 1) return access && kinds[given[0]!]!(fields, access);
  fields.report.error(fields.path, 'needs exactly one of prefix, key, range and all; give one of them');
  return undefined;
}
