// CEL: the limits of an EtcdCluster that depend on each other. docs/operations/sizing.md says why.
import { needsToOpen, quotaToMembers, quotaToMemory } from '../../src/etcd/quota.ts';
import { defaultResources } from '../../src/lib/backup-pod.ts';
import { defaultVolume } from '../../src/lib/defaults.ts';

/** The default of resources. */
export const memberResources = { requests: { cpu: '250m', memory: '1Gi' }, limits: { memory: '2Gi' } };
const toOpen = defaultResources({ opens: true }).limits.memory;

/** CEL: the size of the volumes. */
export const sizeOf = (spec) => `(has(${spec}.storage) ? ${spec}.storage.size : '${defaultVolume}')`;
const size = sizeOf('self');
const float = (quantity) => `quantity(${quantity}).asApproximateFloat()`;

/** The limit of memory of a container: a request stands for it. */
const memory = (owner, otherwise) => {
  const at = (kind) =>
    `has(${owner}.resources) && has(${owner}.resources.${kind}) && has(${owner}.resources.${kind}.memory)`;
  return `(${at('limits')} ? ${owner}.resources.limits.memory : ${at('requests')} ? ${owner}.resources.requests.memory : '${otherwise}')`;
};

/** The quota is at most `factor` times the memory. Without a quota, it is half of the volume above 1Gi, at most 8Gi. */
function quotaWithin(limit, factor) {
  const given = `!isQuantity(self.quota) || ${float(limit)} * ${factor}.0 - ${float('self.quota')} >= 0.0`;
  const byDefault = `${float(limit)} * ${factor}.0 >= ${8 * 2 ** 30}.0 || !isQuantity(${size}) || ${float(limit)} * ${2 * factor}.0 + ${2 ** 30}.0 - ${float(size)} >= 0.0`;
  return `!isQuantity(${limit}) || ${float(limit)} == 0.0 || (has(self.quota) ? ${given} : ${byDefault})`;
}

export const limitRules = [
  [
    `!has(self.quota) || !isQuantity(self.quota) || !isQuantity(${size}) || quantity(${size}).compareTo(quantity(self.quota).add(quantity(self.quota)).add(quantity('1Gi'))) >= 0`,
    'quota needs a volume of twice its size and 1Gi: make storage.size larger, or quota smaller',
    { fieldPath: '.quota' },
  ],
  [
    quotaWithin(memory('self', memberResources.limits.memory), quotaToMembers),
    'the limit of memory is below a quarter of the quota, so the index of the keys may not fit: raise it, or make quota smaller',
    { fieldPath: '.resources' },
  ],
  [
    // Without memory of its own, the gate has that of etcd.
    `!has(self.containers) || !has(self.containers.gate) || ${quotaWithin(memory('self.containers.gate', '1Ei'), quotaToMembers)}`,
    'the limit of memory of the gate, which restores, is below a quarter of the quota: raise it, or make quota smaller',
    { fieldPath: '.containers.gate.resources' },
  ],
  [
    `!has(self.backup) || !has(self.backup.schedules) || self.backup.schedules.all(each, !has(each.verify) || each.verify != 'open' || ${quotaWithin(memory('each', toOpen), quotaToMemory)})`,
    `a schedule with verify: open ${needsToOpen}: raise it in its resources, or choose verify: read`,
    { fieldPath: '.backup' },
  ],
];
