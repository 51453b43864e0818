import { EtcdSpread } from '..';
import { spreadConstraints } from './etcd-spread';

const labels = { app: 'etcd' };
const zone = 'topology.kubernetes.io/zone';
const node = 'kubernetes.io/hostname';

test.each([
  ['DEFAULT', EtcdSpread.DEFAULT, { [zone]: 'ScheduleAnyway', [node]: 'DoNotSchedule' }],
  ['REQUIRED_ZONES', EtcdSpread.REQUIRED_ZONES, { [zone]: 'DoNotSchedule', [node]: 'DoNotSchedule' }],
  ['PREFERRED', EtcdSpread.PREFERRED, { [zone]: 'ScheduleAnyway', [node]: 'ScheduleAnyway' }],
  ['NONE', EtcdSpread.NONE, {}],
])('%s', (_, spread, expected) => {
  expect(spreadConstraints(spread._spec(), labels)).toEqual(
    Object.entries(expected).map(([topologyKey, whenUnsatisfiable]) => ({
      maxSkew: 1,
      topologyKey,
      whenUnsatisfiable,
      labelSelector: { matchLabels: labels },
    })),
  );
});
