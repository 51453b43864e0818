import type { ClusterOrigin } from '../../backup/cluster-origin';
import { RestoreSource } from '../../backup/restore-source';
import type { Fields } from '../fields';
import { quantitiesOf } from '../units';
import { ownStore } from './store';

/** Reads the fields that the `origin` of a cluster and the spec of a restore share. */
export function ownOrigin(fields: Fields): ClusterOrigin | undefined {
  const source = ownSource(fields);
  const more = {
    identitySecret: fields.text('identitySecret'),
    sha256: fields.text('sha256'),
    expectedRevision: fields.integer('expectedRevision'),
    serviceAccountName: fields.text('serviceAccountName'),
    image: fields.text('image'),
    resources: quantitiesOf(fields.object('resources')),
  };
  return source && { source, ...more };
}

function ownSource(fields: Fields): RestoreSource | undefined {
  const source = fields.object('source');
  if (!source) {
    if (!fields.has('source')) fields.report.error(fields.at('source'), 'is missing; add it');
    return undefined;
  }
  const backupName = source.text('backupName');
  const store = source.object('store');
  const cluster = source.text('clusterName');
  const namespace = source.text('clusterNamespace');
  const [snapshotId, key, before] = [
    source.text('snapshotId'),
    source.text('key'),
    source.text('latestVerifiedBefore'),
  ];
  const which = [snapshotId, key, before].filter((value) => value !== undefined);
  if ((backupName === undefined) === (store === undefined)) {
    source.report.error(source.path, 'needs exactly one of backupName and store; give one of them');
    return undefined;
  }
  if (backupName !== undefined) {
    if (which.length > 0)
      source.report.error(
        source.path,
        'backupName cannot be combined with snapshotId, key or latestVerifiedBefore; remove them',
      );
    return RestoreSource.backup(backupName);
  }
  const place = ownStore(store!);
  if (which.length !== 1) {
    source.report.error(
      source.path,
      'store needs exactly one of snapshotId, key and latestVerifiedBefore; give one of them',
    );
  }
  for (const [field, value] of Object.entries({ clusterName: cluster, clusterNamespace: namespace })) {
    if (value !== undefined && key !== undefined)
      source.report.error(source.at(field), 'has no effect with key; remove it');
  }
  if (!place) return undefined;
  if (snapshotId !== undefined) return RestoreSource.snapshot(place, snapshotId, { cluster, namespace });
  return key === undefined
    ? RestoreSource.latestVerifiedBefore(place, before ?? '', { cluster, namespace })
    : RestoreSource.key(place, key);
}
