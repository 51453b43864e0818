import { adviceOn, advisoriesAsOf, advisoriesForCluster } from '../../../../../src/etcd/advisories.ts';
import { type Condition, is } from '../../../protocol/condition.ts';
import { compareVersions } from '../../../protocol/versions.ts';
import { listed } from './member-view.ts';
import type { View } from './view.ts';

/** Of the oldest version that runs; of the version in the spec while none is known. */
export function versionSafe(v: View): Condition {
  const version = runningVersions(v).sort(compareVersions)[0] ?? v.spec.version;
  const found = advisoriesForCluster(version);
  const known = `known on ${advisoriesAsOf}`;
  return found.length === 0
    ? is('VersionSafe', true, 'NoAdvisory', `etcd ${version} has no vulnerability that was ${known}`)
    : is('VersionSafe', false, 'KnownVulnerabilities', `${adviceOn(found, version)} (${known})`);
}

const runningVersions = (v: View): string[] =>
  v.o.record.known && v.o.record.v && v.o.members.known ? listed(v).flatMap(({ status }) => status?.version ?? []) : [];
