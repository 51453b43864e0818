import type { EtcdVersion } from '../../etcd/etcd-version';
import { quotaBytes } from '../../etcd/quota';
import type { EtcdClusterSpec } from '../../resource/types';
import { envSettings } from '../env';
import type { Fields } from '../fields';
import { affinity, resources, tolerations, withMemory } from '../pod';
import type { DocumentReport } from '../report';
import { sizeText } from '../units';
import { coreosVolume } from './volume';

/** Reads `spec.pod` of that operator's EtcdCluster. */
export function coreosPod(
  pod: Fields | undefined,
  version: EtcdVersion,
  report: DocumentReport,
): Partial<EtcdClusterSpec> {
  const { quotaBytes: given, ...env }: ReturnType<typeof envSettings> = pod ? envSettings(pod, 'etcdEnv', version) : {};
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
    resources: withMemory(
      pod,
      resources(pod.object('resources')),
      quotaBytes({ quota, storage }),
      'ETCD_QUOTA_BACKEND_BYTES in etcdEnv',
    ),
    clusterDomain: pod.text('ClusterDomain')?.replace(/^\./, ''),
  };
}
