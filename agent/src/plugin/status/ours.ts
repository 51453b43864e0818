import type { KubeObject } from '../../kube/objects.ts';
import type { ClusterObject } from '../objects.ts';

/** Jobs that the reconciler creates for a cluster are named after it and one of these. */
const jobs = ['pre-upgrade', 'final', 'safety', 'recovery', 'restore', 'salvage'];

/**
 * Whether an Event is about an object of the cluster, by the name of that object, which may not exist any more. `others`:
 * names of further objects of the cluster.
 */
export function isAbout({ metadata, spec }: ClusterObject, object: string, others: readonly string[] = []): boolean {
  const { name } = metadata;
  if (object === name || others.includes(object)) return true;
  const member = object.startsWith('data-') ? object.slice('data-'.length) : object;
  if (member.startsWith(`${name}-`) && /^\d+$/.test(member.slice(name.length + 1))) return true;
  const schedules = (spec.backup?.schedules ?? []).map((each) => each.name);
  return [...schedules, ...jobs]
    .map((each) => `${name}-${each}`)
    .some((each) => object === each || object.startsWith(`${each}-`));
}

const label = (name: string) => `app.kubernetes.io/${name}`;

/** Whether its labels say that an object belongs to the cluster or to the reconciler. */
export function isLabelled({ metadata }: KubeObject, cluster: string): boolean {
  const labels = metadata.labels ?? {};
  const name = labels[label('name')] ?? '';
  const isPart = labels[label('instance')] === cluster || labels[label('part-of')] === cluster;
  return name === 'etcd-reconciler' || (/^etcd(-backup|-restore|-user)?$/.test(name) && isPart);
}
