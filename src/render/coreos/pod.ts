import type { EtcdClusterProps } from '../../cluster/etcd-cluster-props';
import { EtcdResources } from '../../cluster/etcd-resources';
import type { EtcdVersion } from '../../etcd/etcd-version';
import type { Toleration } from '../../lib/toleration';
import type { Fields } from '../fields';
import type { DocumentReport } from '../report';
import { quantitiesIn } from '../units';
import { coreosEnv } from './env';
import { coreosVolume } from './volume';

/** Reads `spec.pod` of that operator's EtcdCluster. */
export function coreosPod(
  pod: Fields | undefined,
  version: EtcdVersion,
  report: DocumentReport,
): Partial<EtcdClusterProps> {
  const env = pod ? coreosEnv(pod, version) : {};
  const volume = coreosVolume(pod?.object('persistentVolumeClaimSpec'), env.quota, report);
  if (!pod) return { volume };
  pod.lose('affinity', 'the members are spread over zones and nodes instead; choose another spread in TypeScript');
  if (pod.boolean('antiAffinity')) {
    report.note(
      pod.at('antiAffinity'),
      'becomes a spread over nodes, which puts two members on one node only if there are fewer nodes than members',
    );
  }
  pod.lose('securityContext', 'the members run as user 65532 under the restricted Pod Security Standard; remove it');
  pod.lose('busyboxImage', 'the pods do not use busybox; remove it');
  pod.lose('DNSTimeoutInSecond', 'the pods have no timeout for DNS; remove it');
  return {
    ...env,
    volume,
    labels: pod.map('labels'),
    podAnnotations: pod.map('annotations'),
    nodeSelector: pod.map('nodeSelector'),
    tolerations: tolerations(pod),
    resources: resources(pod.object('resources')),
    clusterDomain: pod.text('ClusterDomain')?.replace(/^\./, ''),
  };
}

function tolerations(pod: Fields): Toleration[] | undefined {
  const found = pod.objects('tolerations').map((toleration) => ({
    key: toleration.text('key'),
    operator: toleration.text('operator'),
    value: toleration.text('value'),
    effect: toleration.text('effect'),
    tolerationSeconds: toleration.integer('tolerationSeconds'),
  }));
  return found.length > 0 ? found : undefined;
}

function resources(fields: Fields | undefined): EtcdResources | undefined {
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
  const quantities = quantitiesIn(requests, limits);
  return quantities && EtcdResources.of(quantities);
}
