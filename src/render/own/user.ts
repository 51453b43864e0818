import { EtcdPermission } from '../../users/etcd-permission';
import { userSecretName } from '../../users/etcd-user';
import type { Document } from '../documents';
import type { Fields } from '../fields';
import { metadataLabels } from '../metadata';
import type { PlannedUser } from '../plan';

export function ownUser(document: Document): PlannedUser {
  const { spec, name } = document;
  const labels = metadataLabels(document);
  const clusterName = spec.required('clusterName');
  const can = spec.objects('permissions').map(permission);
  const userName = spec.text('userName') ?? name;
  const certificateSecret = spec.text('certificateSecret');
  const passwordSecret = spec.text('passwordSecret');
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
    fields.boolean('all');
    if (access === 'Read') return EtcdPermission.readAll();
    return access === 'Write' ? EtcdPermission.writeAll() : EtcdPermission.readWriteAll();
  },
};

function permission(fields: Fields): EtcdPermission {
  const kind = Object.keys(kinds).find((each) => fields.has(each))!;
  return kinds[kind]!(fields, fields.oneOf('access', ['Read', 'Write', 'ReadWrite'] as const)!);
}
