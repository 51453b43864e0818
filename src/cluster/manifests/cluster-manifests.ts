import { originMemoryProblem } from '../../backup/job-problems';
import { protection } from '../../lib/gitops';
import { annotated } from '../../lib/labels';
import type { Manifest } from '../../lib/manifest';
import type { NeighborTemplate } from '../../lib/pods/job-pod';
import { overridden, podFieldProblems } from '../../overrides/overrides';
import { defaults } from '../../resource/defaults';
import { managedSecrets } from '../../tls/tls-names';
import { issuedSource } from '../../tls/tls-trust';
import { problemsOf } from '../../validation/problems';
import { type ClusterResource, type ResolvedCluster, resolveCluster } from '../resolved-cluster';
import { clusterLabels, memberSelector } from './cluster-labels';
import { monitoringOf } from './cluster-monitoring';
import { clientService, externalService, jobPolicy, memberPolicy, memberService, peerService } from './cluster-network';
import { binding, memberRules, reconcilerRules } from './cluster-roles';
import { scheduleManifests } from './cluster-schedules';
import { settingsData } from './cluster-settings';
import { clusterStatefulSet } from './cluster-stateful-set';
import { memoryProblems } from './finished-memory';
import { madeFrom, madeFromAnnotation } from './made-from';

/**
 * Returns the objects of an EtcdCluster in the order in which they are applied: its own resource, then its schedules and its monitoring. It is
 * the only way from the resource to the objects. The key of each is the id of its construct.
 *
 * @param cluster the resolved resource, for whoever needs it too
 */
export function manifestsOf(resource: ClusterResource, cluster = resolveCluster(resource)): Map<string, Manifest> {
  const { manifests } = overridden(withoutOverrides(resource, cluster), cluster.overrides);
  const statefulSet = annotatedWith(manifests.get('StatefulSet')!, resource.madeFrom ?? madeFrom(resource.spec));
  return new Map([
    ...manifests.set('StatefulSet', statefulSet),
    ...scheduleManifests(cluster),
    ...monitoringOf(cluster),
  ]);
}

function annotatedWith({ metadata, ...manifest }: Manifest, source: string): Manifest {
  const annotations = { ...metadata.annotations, [madeFromAnnotation]: source };
  return { ...manifest, metadata: { ...metadata, annotations } };
}

/** Problems with the pods of the members, and with the overrides of a cluster. Each schedule reports its own. */
export function finishedProblems(resource: Pick<ClusterResource, 'spec'>, cluster: ResolvedCluster): readonly string[] {
  const { overrides, backup } = cluster;
  const manifests = withoutOverrides(resource, cluster);
  const written = backup?.schedules ?? [];
  const { template } = manifests.get('StatefulSet')!.spec as { readonly template: NeighborTemplate };
  const complete = { ...resource.spec, backup: { ...resource.spec.backup, schedules: written } };
  const faults = [
    ...podFieldProblems(manifests.values(), { target: 'MemberPods' }),
    ...problemsOf(originMemoryProblem(complete, template)),
  ];
  if (overrides === undefined && written.every((schedule) => schedule.overrides === undefined)) return faults;
  const [schedules, sample] = jobPods(cluster);
  const all = new Map([...manifests, ...schedules]);
  const finished = (count?: number) => {
    const first = overrides?.slice(0, count);
    return new Map([...overridden(manifests, first).manifests, ...scheduleManifests({ ...cluster, overrides: first })]);
  };
  return [
    ...faults,
    ...overridden(all, overrides, { hasJobs: true, sample }).problems,
    ...memoryProblems(resource.spec, written, finished),
  ];
}

/** The schedules without overrides. Without any, a CronJob shows what the pods of the reconciler's Jobs are. */
function jobPods(cluster: ResolvedCluster): [Map<string, Manifest>, sample?: string] {
  const schedules = (cluster.backup?.schedules ?? []).map((schedule) => ({ ...schedule, overrides: undefined }));
  const manifests = (all: typeof schedules) =>
    new Map(scheduleManifests({ ...cluster, overrides: undefined, backup: { schedules: all } }));
  if (schedules.length > 0) return [manifests(schedules)];
  const id = 'sample/CronJob';
  const cronJob = manifests([{ name: 'sample', cron: '@hourly', stores: [], overrides: undefined }]).get(id)!;
  return [new Map([[id, cronJob]]), id];
}

function withoutOverrides(resource: Pick<ClusterResource, 'spec'>, cluster: ResolvedCluster): Map<string, Manifest> {
  const labels = clusterLabels(cluster);
  return new Map<string, Manifest>(
    objectsOf(cluster, resource).map(([id, apiVersion, kind, name, content, own = {}]) => {
      const annotations = { ...cluster.annotations, ...own.annotations, ...(cluster.protect && protection) };
      const metadata = { name, labels: { ...labels, ...own.labels }, ...annotated(annotations) };
      return [id, { apiVersion, kind, metadata, ...content }];
    }),
  );
}

type Entry = readonly [
  id: string,
  apiVersion: string,
  kind: string,
  name: string,
  content: object,
  own?: Partial<Pick<Manifest['metadata'], 'labels' | 'annotations'>>,
];

function objectsOf(cluster: ResolvedCluster, { spec }: Pick<ClusterResource, 'spec'>): Entry[] {
  const { name, names } = cluster;
  const { reconcilerRole } = names;
  return [
    ...serviceAccount(cluster),
    ['Role', rbac, 'Role', name, { rules: memberRules(names) }],
    ['RoleBinding', rbac, 'RoleBinding', name, binding(name, cluster.serviceAccountName)],
    ['ReconcilerRole', rbac, 'Role', reconcilerRole, { rules: reconcilerRules(cluster) }],
    [
      ...(['ReconcilerRoleBinding', rbac, 'RoleBinding', reconcilerRole] as const),
      binding(reconcilerRole, cluster.reconcilerAccount),
    ],
    ['Settings', 'v1', 'ConfigMap', names.settings, { data: settingsData(cluster) }],
    ['PeerService', 'v1', 'Service', names.peerService, { spec: peerService(cluster) }],
    ['ClientService', 'v1', 'Service', name, { spec: clientService(cluster) }, cluster.service],
    ...memberServices(cluster),
    ...externalServices(cluster),
    ['NetworkPolicy', networking, 'NetworkPolicy', name, { spec: memberPolicy(cluster) }],
    ['JobNetworkPolicy', networking, 'NetworkPolicy', names.jobPolicy, { spec: jobPolicy(cluster) }],
    ...disruptionBudget(cluster),
    ...certificates(cluster),
    ...tlsSecrets(cluster),
    ['StatefulSet', 'apps/v1', 'StatefulSet', name, { spec: clusterStatefulSet(cluster) }],
    ['EtcdCluster', 'cdk8s-etcd.dev/v1alpha1', 'EtcdCluster', name, { spec }],
  ];
}

/** An existing one belongs to whoever created it. */
function serviceAccount({ name, hasOwnAccount, serviceAccountAnnotations: annotations }: ResolvedCluster): Entry[] {
  if (!hasOwnAccount) return [];
  return [['ServiceAccount', 'v1', 'ServiceAccount', name, { automountServiceAccountToken: false }, { annotations }]];
}

const certificateIds = ['Peer', 'Server', 'Client', 'Root', 'Backup'];

function certificates({ tls }: ResolvedCluster): Entry[] {
  return [...tls.certificates, ...(tls.trust?.other.certificates ?? [])].map(
    ({ apiVersion, kind, metadata, spec }, index) => [
      `${certificateIds[index]}Certificate`,
      apiVersion,
      kind,
      metadata.name,
      { spec },
    ],
  );
}

/** The Secrets that the reconciler writes, without data: no apply changes a field that it does not contain. */
function tlsSecrets({ tls }: ResolvedCluster): Entry[] {
  const issued = issuedSource(tls);
  const names = issued ? managedSecrets(issued.secrets, issued.managed) : [];
  const secret = (id: string, name: string): Entry => [`${id}Secret`, 'v1', 'Secret', name, { type: 'Opaque' }];
  return [
    ...names.map((name, index) => secret(issuedIds[index]!, name)),
    ...(tls.trust ? [secret('Trust', tls.trust.secret)] : []),
  ];
}

const issuedIds = ['PeerAuthority', 'ClientAuthority', ...certificateIds];

/** One Service for each possible member, because the size can also change without these manifests. */
function memberServices(cluster: ResolvedCluster): Entry[] {
  const { clientServices, pods } = cluster.names;
  return clientServices.map((service, ordinal) => [
    `MemberService${ordinal}`,
    'v1',
    'Service',
    service,
    { spec: memberService(cluster, pods[ordinal]!) },
  ]);
}

/** Those of the members that there are: a load balancer costs money. */
function externalServices(cluster: ResolvedCluster): Entry[] {
  const { names, size, externalServices: given } = cluster;
  if (!given) return [];
  return names.externalServices.slice(0, size).map((service, ordinal) => {
    const own = given.members?.find((member) => member.ordinal === ordinal);
    return [
      ...([`ExternalService${ordinal}`, 'v1', 'Service', service] as const),
      { spec: externalService(cluster, names.pods[ordinal]!, own?.nodePort) },
      { labels: given.labels, annotations: { ...given.annotations, ...own?.annotations } },
    ];
  });
}

/** One member at a time, whatever the size. */
function disruptionBudget({ name, podDisruptionBudget: given }: ResolvedCluster): Entry[] {
  const { enabled = defaults.EtcdClusterSpec.podDisruptionBudget.enabled, unhealthyPodEvictionPolicy } = given ?? {};
  if (!enabled) return [];
  const spec = { maxUnavailable: 1, unhealthyPodEvictionPolicy, selector: { matchLabels: memberSelector(name) } };
  return [['PodDisruptionBudget', 'policy/v1', 'PodDisruptionBudget', name, { spec }]];
}

const rbac = 'rbac.authorization.k8s.io/v1';
const networking = 'networking.k8s.io/v1';
