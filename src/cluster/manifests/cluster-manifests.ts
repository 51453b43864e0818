import { protection } from '../../lib/gitops';
import type { Manifest } from '../../lib/manifest';
import { overridden } from '../../overrides/overrides';
import { managedSecrets } from '../../tls/tls-names';
import { issuedSource } from '../../tls/tls-trust';
import { type ClusterResource, type ResolvedCluster, resolveCluster } from '../resolved-cluster';
import { clusterLabels, memberSelector } from './cluster-labels';
import { monitoringOf } from './cluster-monitoring';
import { clientService, externalService, jobPolicy, memberPolicy, memberService, peerService } from './cluster-network';
import { binding, memberRules, reconcilerRules } from './cluster-roles';
import { sampleSchedules, scheduleManifests } from './cluster-schedules';
import { settingsData } from './cluster-settings';
import { clusterStatefulSet } from './cluster-stateful-set';

/**
 * Returns the objects of an EtcdCluster in the order in which they are applied: its own resource, then its schedules and its monitoring. It is
 * the only way from the resource to the objects. The key of each is the id of its construct.
 *
 * @param cluster the resolved resource, for whoever needs it too
 */
export function manifestsOf(resource: ClusterResource, cluster = resolveCluster(resource)): Map<string, Manifest> {
  const { manifests } = overridden(withoutOverrides(resource, cluster), cluster.overrides);
  return new Map([...manifests, ...scheduleManifests(cluster), ...monitoringOf(cluster)]);
}

/** Problems with the overrides of a cluster. Each schedule reports those of its own. */
export function overrideProblems(resource: Pick<ClusterResource, 'spec'>, cluster: ResolvedCluster): readonly string[] {
  if (cluster.overrides === undefined) return [];
  const schedules = scheduleManifests({ ...cluster, overrides: undefined, backup: sampleSchedules(cluster) });
  return overridden(new Map([...withoutOverrides(resource, cluster), ...schedules]), cluster.overrides).problems;
}

function withoutOverrides(resource: Pick<ClusterResource, 'spec'>, cluster: ResolvedCluster): Map<string, Manifest> {
  const labels = clusterLabels(cluster);
  const common = { ...cluster.annotations, ...(cluster.protect && protection) };
  return new Map<string, Manifest>(
    objectsOf(cluster, resource).map(([id, apiVersion, kind, name, content, own = {}]) => {
      const annotations = unlessEmpty({ ...own.annotations, ...common });
      const metadata = { name, labels: { ...own.labels, ...labels }, ...(annotations && { annotations }) };
      return [id, { apiVersion, kind, metadata, ...content }];
    }),
  );
}

const unlessEmpty = <Values extends object>(values: Values): Values | undefined =>
  Object.keys(values).length > 0 ? values : undefined;

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
  if (given?.enabled === false) return [];
  const { unhealthyPodEvictionPolicy } = given ?? {};
  const spec = { maxUnavailable: 1, unhealthyPodEvictionPolicy, selector: { matchLabels: memberSelector(name) } };
  return [['PodDisruptionBudget', 'policy/v1', 'PodDisruptionBudget', name, { spec }]];
}

const rbac = 'rbac.authorization.k8s.io/v1';
const networking = 'networking.k8s.io/v1';
