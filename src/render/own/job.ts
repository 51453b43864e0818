import { Duration } from 'cdk8s';
import type { JobOptions } from '../../backup/job-options';
import type { EtcdBackupSpec } from '../../resource/types';
import * as types from '../../validation/property-types';
import type { Document } from '../documents';
import { metadataLabels } from '../metadata';
import { withoutNull } from './whole';

/** What the Job of a resource has: most properties have the names and the values of the fields. */
export function jobOptions(document: Document): JobOptions {
  const spec = withoutNull(document.spec.whole()) as EtcdBackupSpec;
  const { imagePullSecrets, ttlSecondsAfterFinished: ttl } = spec;
  const ofResource = metadataLabels(document);
  return {
    ...Object.fromEntries(Object.entries(spec).filter(([name]) => name in types.JobOptions)),
    ...((ofResource || spec.labels) && { labels: { ...ofResource, ...spec.labels } }),
    imagePullSecrets: imagePullSecrets?.map(({ name }) => name),
    ttlAfterFinished: ttl === undefined ? undefined : Duration.seconds(ttl),
  };
}
