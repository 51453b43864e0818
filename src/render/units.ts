import { type Duration, Size } from 'cdk8s';
import type { BackupResources } from '../backup/backup-resources';
import { bytesIn } from '../etcd/bytes';
import { parseDuration } from '../lib/duration';
import type { Fields } from './fields';

/**
 * Parses a quantity in Kubernetes' format, such as `8Gi` or `500M`. Returns bytes, or undefined if it is not above
 * zero.
 */
export function parseBytes(quantity: string): number | undefined {
  const bytes = Math.ceil(bytesIn(quantity) ?? 0);
  return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Returns the size rounded up to whole KiB, in the largest unit without a fraction. */
export function sizeOf(bytes: number): Size {
  const kibibytes = Math.ceil(bytes / 1024);
  if (kibibytes % 2 ** 20 === 0) return Size.gibibytes(kibibytes / 2 ** 20);
  return kibibytes % 2 ** 10 === 0 ? Size.mebibytes(kibibytes / 2 ** 10) : Size.kibibytes(kibibytes);
}

export function durationField(fields: Fields | undefined, key: string): Duration | undefined {
  const text = fields?.text(key);
  if (fields === undefined || text === undefined) return undefined;
  const duration = parseDuration(text);
  if (!duration)
    fields.report.error(fields.at(key), `'${text}' is not a valid duration; write it like 90s, 1h30m or 30d`);
  return duration;
}

/** Reads the CPU and memory of a container. */
export function quantitiesOf(resources: Fields | undefined): BackupResources | undefined {
  return quantitiesIn(resources?.object('requests'), resources?.object('limits'));
}

export function quantitiesIn(requests: Fields | undefined, limits: Fields | undefined): BackupResources | undefined {
  if (!requests && !limits) return undefined;
  return {
    cpuRequest: requests?.quantity('cpu'),
    cpuLimit: limits?.quantity('cpu'),
    memoryRequest: memory(requests),
    memoryLimit: memory(limits),
  };
}

function memory(amounts: Fields | undefined): Size | undefined {
  const quantity = amounts?.quantity('memory');
  if (quantity === undefined) return undefined;
  const bytes = parseBytes(quantity);
  if (bytes !== undefined) return sizeOf(bytes);
  amounts?.report.error(amounts.at('memory'), `'${quantity}' is not a valid amount of memory; write it like 2Gi`);
  return undefined;
}
