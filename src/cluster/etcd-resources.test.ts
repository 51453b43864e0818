import { Chart, Size, Testing } from 'cdk8s';
import { EtcdCluster, EtcdResources } from '..';
import { memberResources } from './etcd-resources';

test('no preset limits the CPU, all limit the memory', () => {
  expect(memberResources(EtcdResources.DEFAULT._spec())).toEqual({
    requests: { cpu: '250m', memory: '1Gi' },
    limits: { memory: '2Gi' },
  });
});

test.each([
  ['SMALL', EtcdResources.SMALL, '2', '8Gi'],
  ['MEDIUM', EtcdResources.MEDIUM, '4', '16Gi'],
  ['LARGE', EtcdResources.LARGE, '8', '32Gi'],
  ['XLARGE', EtcdResources.XLARGE, '16', '64Gi'],
])('%s is a machine of the hardware guide', (_, preset, cpu, memory) => {
  expect(memberResources(preset._spec())).toEqual({ requests: { cpu, memory }, limits: { memory } });
});

test('one amount of a pair is both', () => {
  expect(memberResources(EtcdResources.of({ cpuLimit: '1', memoryRequest: Size.gibibytes(3) })._spec())).toEqual({
    requests: { cpu: '1', memory: '3Gi' },
    limits: { cpu: '1', memory: '3Gi' },
  });
});

test.each([
  [{ cpuRequest: '1 core' }, "resources.cpuRequest: '1 core' is not a valid amount of CPU above zero: write it like"],
  [{ memoryLimit: Size.mebibytes(0) }, "resources.memoryLimit: '0Mi' is not a valid amount of memory of at least 1Mi"],
  [
    { memoryRequest: Size.gibibytes(2), memoryLimit: Size.gibibytes(1) },
    'resources: the request of memory is above its limit, so no pod can start',
  ],
])('%j', (props, message) => {
  const cluster = new EtcdCluster(new Chart(Testing.app(), 'shop'), 'orders', { resources: EtcdResources.of(props) });
  expect(cluster.node.validate()).toEqual([expect.stringContaining(message)]);
});
