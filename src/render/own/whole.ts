import type { Labels } from '../../lib/manifest';
import { storable } from '../../overrides/strategic-merge';
import { isObject } from '../../validation/plain-object';
import type { Document } from '../documents';

/** Go programs write null for what is not there. In an override, it deletes. */
export function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(
    entries.map(([key, each]) => [key, key === 'overrides' ? storable(each) : withoutNull(each)]),
  );
}

/** Reports the labels of a resource that are not in its spec, whose labels its objects get. */
export function labelsLost({ report }: Document, labels: Labels = {}, inSpec: Labels = {}): void {
  const lost = Object.keys(labels).filter((label) => !Object.hasOwn(inSpec, label));
  if (lost.length > 0)
    report.lost('metadata.labels', `${lost.join(', ')}: write them into spec.labels, which all objects get`);
}
