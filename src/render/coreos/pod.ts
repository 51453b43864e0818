import type { EtcdVersion } from '../../etcd/etcd-version';
import { quotaBytes, quotaToMembers } from '../../etcd/quota';
import { defaults } from '../../resource/defaults';
import { amountOf } from '../../resource/quantity';
import type { EtcdClusterSpec, ResourceAmounts, ResourcesSpec, TolerationSpec } from '../../resource/types';
import type { Fields } from '../fields';
import type { DocumentReport } from '../report';
import { parseBytes, sizeText } from '../units';
import { coreosEnv } from './env';
import { coreosVolume } from './volume';

/** Reads `spec.pod` of that operator's EtcdCluster. */
export function coreosPod(
  pod: Fields | undefined,
  version: EtcdVersion,
  report: DocumentReport,
): Partial<EtcdClusterSpec> {
  const { quotaBytes: given, ...env }: ReturnType<typeof coreosEnv> = pod ? coreosEnv(pod, version) : {};
  const storage = coreosVolume(pod?.object('persistentVolumeClaimSpec'), given, report);
  if (!pod) return { storage };
  if (pod.boolean('antiAffinity')) {
    report.note(
      pod.at('antiAffinity'),
      'becomes a spread over nodes, which puts two members on one node only if there are fewer nodes than members',
    );
  }
  if (pod.has('securityContext')) {
    report.note(
      pod.at('securityContext'),
      'replaces that of the members, which is user 65532 under the restricted Pod Security Standard; prefer to remove it',
    );
  }
  pod.lose('busyboxImage', 'the pods do not use busybox; remove it');
  pod.lose('DNSTimeoutInSecond', 'the pods have no timeout for DNS; remove it');
  const quota = given === undefined ? undefined : sizeText(given);
  return {
    ...env,
    storage,
    quota,
    labels: pod.map('labels'),
    podAnnotations: pod.map('annotations'),
    nodeSelector: pod.map('nodeSelector'),
    tolerations: tolerations(pod),
    affinity: affinity(pod.object('affinity')),
    securityContext: pod.object('securityContext')?.whole(),
    resources: withMemory(pod, resources(pod.object('resources')), quotaBytes({ quota, storage })),
    clusterDomain: pod.text('ClusterDomain')?.replace(/^\./, ''),
  };
}

/** Its terms about pods name the labels of that operator, which the new pods do not have. */
function affinity(fields: Fields | undefined): EtcdClusterSpec['affinity'] {
  for (const name of ['podAffinity', 'podAntiAffinity'])
    fields?.lose(name, 'the members are spread over zones and nodes instead; write spec.spread of the new EtcdCluster');
  const nodeAffinity = fields?.object('nodeAffinity')?.whole();
  return nodeAffinity && { nodeAffinity };
}

function tolerations(pod: Fields): EtcdClusterSpec['tolerations'] {
  const found = pod.objects('tolerations').map((toleration) => ({
    key: toleration.text('key'),
    operator: toleration.text('operator') as TolerationSpec['operator'],
    value: toleration.text('value'),
    effect: toleration.text('effect') as TolerationSpec['effect'],
    tolerationSeconds: toleration.integer('tolerationSeconds'),
  }));
  return found.length > 0 ? found : undefined;
}

function resources(fields: Fields | undefined): ResourcesSpec | undefined {
  const [requests, limits] = [fields?.object('requests'), fields?.object('limits')];
  for (const amounts of [requests, limits]) {
    for (const name of amounts?.keys ?? []) {
      if (name !== 'cpu' && name !== 'memory')
        amounts?.lose(name, 'only CPU and memory of a member can be set; remove it');
    }
  }
  if (limits?.has('cpu')) {
    limits.report.note(
      limits.at('cpu'),
      'throttles a busy member, and the cluster then elects another leader; prefer no CPU limit',
    );
  }
  const given = { requests: amounts(requests), limits: amounts(limits) };
  return (given.requests ?? given.limits) && given;
}

/** That operator let a database grow beyond what the memory of its member suffices for. */
function withMemory(pod: Fields, given: ResourcesSpec | undefined, quota: number): ResourcesSpec | undefined {
  const { requests, limits } = given ?? {};
  const memory = limits?.memory ?? requests?.memory ?? defaults.EtcdClusterSpec.resources.limits.memory;
  const least = quota / quotaToMembers;
  if (amountOf(memory)! >= least) return given;
  const becomes = sizeText(least);
  pod.report.note(
    pod.at('resources'),
    `the limit of memory, ${memory}, is below a quarter of the quota of the database, ${sizeText(quota)}; it becomes ${becomes}; to keep it, lower ETCD_QUOTA_BACKEND_BYTES in etcdEnv`,
  );
  return { ...given, limits: { ...limits, memory: becomes } };
}

function amounts(fields: Fields | undefined): ResourceAmounts | undefined {
  const [cpu, memory] = [fields?.quantity('cpu'), fields?.quantity('memory')];
  const isWrong = memory !== undefined && parseBytes(memory) === undefined;
  if (isWrong)
    fields?.report.error(fields.at('memory'), `'${memory}' is not a valid amount of memory; write it like 2Gi`);
  return cpu === undefined && memory === undefined ? undefined : { cpu, memory: isWrong ? undefined : memory };
}
