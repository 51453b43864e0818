import { quotaToMembers } from '../etcd/quota';
import { defaults } from '../resource/defaults';
import { amountOf } from '../resource/quantity';
import type { EtcdClusterSpec, ResourceAmounts, ResourcesSpec, TolerationSpec } from '../resource/types';
import type { Fields } from './fields';
import { parseBytes, sizeText } from './units';

// What the pods of other operators and charts say in the words of Kubernetes.

/** Its terms about pods name the labels of the old pods, which the new ones do not have. */
export function affinity(fields: Fields | undefined): EtcdClusterSpec['affinity'] {
  for (const name of ['podAffinity', 'podAntiAffinity'])
    fields?.lose(name, 'the members are spread over zones and nodes instead; write spec.spread of the new EtcdCluster');
  const nodeAffinity = fields?.object('nodeAffinity')?.whole();
  return nodeAffinity && { nodeAffinity };
}

export function tolerations(pod: Fields): EtcdClusterSpec['tolerations'] {
  const found = pod.objects('tolerations').map((toleration) => ({
    key: toleration.text('key'),
    operator: toleration.text('operator') as TolerationSpec['operator'],
    value: toleration.text('value'),
    effect: toleration.text('effect') as TolerationSpec['effect'],
    tolerationSeconds: toleration.integer('tolerationSeconds'),
  }));
  return found.length > 0 ? found : undefined;
}

export function resources(fields: Fields | undefined): ResourcesSpec | undefined {
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

/** Others let a database grow beyond what the memory of its member suffices for. `quotaField`: what to lower instead. */
export function withMemory(
  pod: Fields,
  given: ResourcesSpec | undefined,
  quota: number,
  quotaField: string,
): ResourcesSpec | undefined {
  const { requests, limits } = given ?? {};
  const memory = limits?.memory ?? requests?.memory ?? defaults.EtcdClusterSpec.resources.limits.memory;
  const least = quota / quotaToMembers;
  if (amountOf(memory)! >= least) return given;
  const becomes = sizeText(least);
  pod.report.note(
    pod.at('resources'),
    `the limit of memory, ${memory}, is below a quarter of the quota of the database, ${sizeText(quota)}; it becomes ${becomes}; to keep it, lower ${quotaField}`,
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
