import { DeletionPolicy, NoSpacePolicy, ReplacePolicy, type ReplaceRequest } from '../../cluster/cluster-policies';
import type { EtcdClusterProps } from '../../cluster/etcd-cluster-props';
import { type EtcdVolume, smallestVolume } from '../../cluster/etcd-volume';
import type { QuorumRecovery } from '../../cluster/quorum-recovery';
import { EtcdVersion } from '../../etcd/etcd-version';
import type { Document } from '../documents';
import type { Fields } from '../fields';
import { metadataLabels } from '../metadata';
import type { PlannedCluster } from '../plan';
import { parseBytes, sizeOf } from '../units';
import { ownOrigin } from './origin';
import { ownSchedules } from './schedule';
import { ownTls } from './tls';

/** Reads an EtcdCluster: each of its fields becomes a prop. */
export function ownCluster(document: Document): PlannedCluster {
  const { spec, report } = document;
  const version = spec.required('version', EtcdVersion._insteadOf);
  const policy = spec.object('pvcPolicy');
  const backup = spec.object('backup');
  const origin = spec.object('origin');
  const maintenance = spec.object('maintenance');
  // They are requests of a moment, not part of what the cluster is.
  maintenance?.ignore('defragment', 'moveLeader');
  report.note(
    'spec',
    'does not specify resources, tuning, spread, network access and the like, so these have their defaults; choose other values in TypeScript',
  );
  return {
    becomes: 'cluster',
    document,
    props: {
      size: spec.integer('size'),
      allowEvenSize: spec.boolean('allowEvenSize'),
      version: version === '' ? undefined : EtcdVersion.of(version),
      paused: spec.boolean('paused'),
      ...ownTls(document),
      auth: spec.boolean('auth'),
      replace: replace(spec.object('replace')),
      origin: origin && ownOrigin(origin),
      recovery: recovery(spec.object('recovery')),
      volume: volume(spec.object('storage')),
      onShrink: policy?.oneOf('onShrink', Object.values(DeletionPolicy)),
      onDelete: policy?.oneOf('onDelete', Object.values(DeletionPolicy)),
      backupSchedule: backup?.text('schedule'),
      requireBackupForUpgrade: backup?.boolean('requiredForUpgrade'),
      finalBackup: spec.object('finalBackup')?.boolean('required'),
      onNoSpace: maintenance?.oneOf('onNoSpace', Object.values(NoSpacePolicy)),
      labels: metadataLabels(document),
    } satisfies EtcdClusterProps,
    schedules: backup ? ownSchedules(backup, document.name) : [],
  };
}

function replace(fields: Fields | undefined): ReplacePolicy | undefined {
  if (!fields) return undefined;
  const policy = fields.oneOf('policy', ['OnVolumeLoss', 'Manual']);
  const force = fields.objects('force').flatMap((request): ReplaceRequest[] => {
    const ordinal = request.integer('ordinal');
    const memberId = request.required('memberId');
    const discardVolume = request.boolean('discardVolume');
    if (ordinal === undefined) request.report.error(request.at('ordinal'), 'is missing; add it');
    return ordinal === undefined || memberId === '' ? [] : [{ ordinal, memberId, discardVolume }];
  });
  return policy === 'Manual' ? ReplacePolicy.manual(...force) : ReplacePolicy.onVolumeLoss(...force);
}

function recovery(fields: Fields | undefined): QuorumRecovery | undefined {
  if (!fields) return undefined;
  fields.oneOf('action', ['RestoreFromSurvivor']);
  return {
    id: fields.required('id'),
    acceptDataLoss: fields.boolean('acceptDataLoss') ?? false,
    survivor: fields.integer('survivor'),
    identitySecret: fields.text('identitySecret'),
  };
}

function volume(storage: Fields | undefined): EtcdVolume | undefined {
  if (!storage) return undefined;
  const quantity = storage.quantity('size');
  const ephemeral = storage.boolean('ephemeral');
  if (quantity === undefined) return { ephemeral };
  const bytes = parseBytes(quantity);
  if (bytes === undefined) {
    storage.report.error(storage.at('size'), `'${quantity}' is not a valid size; write it like 8Gi`);
  } else if (bytes < smallestVolume) {
    // Other messages would name the size in KiB.
    const unit = /\d$/.test(quantity)
      ? `, because a number without a unit means bytes; write ${quantity}Gi, if you mean that, or`
      : '; write';
    storage.report.error(storage.at('size'), `${quantity} is too small for etcd${unit} 2Gi or more`);
    return { ephemeral };
  }
  return { size: bytes === undefined ? undefined : sizeOf(bytes), ephemeral };
}
