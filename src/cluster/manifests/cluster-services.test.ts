import { Chart, Testing } from 'cdk8s';
import type { Manifest } from '../../../test/synth';
import { EtcdCluster, type EtcdClusterProps, EtcdTls } from '../..';

function objects(props: EtcdClusterProps): Manifest[] {
  const chart = new Chart(Testing.app(), 'chart', { namespace: 'shop' });
  new EtcdCluster(chart, 'orders', props);
  return Testing.synth(chart);
}
const named = (all: Manifest[], kind: string, name = 'orders'): Manifest =>
  all.find((each) => each.kind === kind && each.metadata.name === name);

test('the Service for clients has what was given, and keeps its port', () => {
  const { metadata, spec } = named(
    objects({
      service: {
        ...{
          type: 'LoadBalancer',
          loadBalancerClass: 'example.com/internal',
          loadBalancerSourceRanges: ['10.0.0.0/8'],
        },
        ...{ externalTrafficPolicy: 'Local', internalTrafficPolicy: 'Local', nodePort: 30_079 },
        ...{ labels: { 'example.com/a': 'b' }, annotations: { 'example.com/c': 'd' } },
      },
    }),
    'Service',
  );
  expect(metadata.labels).toMatchObject({ 'example.com/a': 'b', 'app.kubernetes.io/instance': 'orders' });
  expect(metadata.annotations).toMatchObject({ 'example.com/c': 'd' });
  expect(spec).toEqual({
    ...{ type: 'LoadBalancer', loadBalancerClass: 'example.com/internal', loadBalancerSourceRanges: ['10.0.0.0/8'] },
    ...{ externalTrafficPolicy: 'Local', internalTrafficPolicy: 'Local' },
    selector: expect.objectContaining({ 'app.kubernetes.io/component': 'member' }),
    ports: [{ name: 'client', port: 2379, targetPort: 2379, protocol: 'TCP', nodePort: 30_079 }],
  });
});

test('its own labels and annotations count more than those of the cluster', () => {
  const { metadata } = named(
    objects({
      ...{ labels: { team: 'a', app: 'b' }, annotations: { 'example.com/a': 'all' } },
      service: { labels: { team: 'c' }, annotations: { 'example.com/a': 'service' } },
    }),
    'Service',
  );
  expect(metadata.labels).toMatchObject({ team: 'c', app: 'b' });
  expect(metadata.annotations).toMatchObject({ 'example.com/a': 'service' });
});

test('each member that there is has a Service for clients outside', () => {
  const all = objects({
    size: 3,
    annotations: { 'example.com/a': 'all' },
    externalServices: {
      type: 'NodePort',
      annotations: { 'example.com/b': 'each', 'example.com/c': 'each' },
      members: [{ ordinal: 1, annotations: { 'example.com/c': 'one' }, nodePort: 30_081 }],
    },
  });
  const external = all.filter(({ metadata }) => metadata.name.endsWith('-external'));
  expect(external.map(({ metadata }) => metadata.name)).toEqual([
    ...['orders-0-external', 'orders-1-external', 'orders-2-external'],
  ]);
  const [zero, one] = external;
  expect(zero.metadata.annotations).toMatchObject({ 'example.com/a': 'all', 'example.com/c': 'each' });
  expect(one.metadata.annotations).toMatchObject({ 'example.com/b': 'each', 'example.com/c': 'one' });
  expect(one.spec.ports[0].nodePort).toBe(30_081);
  expect(one.spec).toMatchObject({
    type: 'NodePort',
    selector: { 'statefulset.kubernetes.io/pod-name': 'orders-1', 'app.kubernetes.io/component': 'member' },
  });
  expect(one.spec).not.toHaveProperty('clusterIP');
});

test('there is no budget if none is wanted', () => {
  const policy = { unhealthyPodEvictionPolicy: 'AlwaysAllow' };
  expect(named(objects({ podDisruptionBudget: { enabled: false } }), 'PodDisruptionBudget')).toBeUndefined();
  expect(named(objects({ podDisruptionBudget: policy }), 'PodDisruptionBudget').spec).toMatchObject(policy);
});

test('claims have labels, annotations and a selector when they are created', () => {
  const volume = { labels: { a: 'b' }, annotations: { c: 'd' }, selector: { matchLabels: { disk: 'nvme' } } };
  const [claim] = named(objects({ volume }), 'StatefulSet').spec.volumeClaimTemplates;
  expect(claim).toMatchObject({
    metadata: { name: 'data', labels: volume.labels, annotations: volume.annotations },
    spec: { selector: volume.selector },
  });
  const chart = new Chart(Testing.app(), 'chart', { namespace: 'shop' });
  const ephemeral = new EtcdCluster(chart, 'orders', { volume: { ephemeral: true, labels: { a: 'b' } } });
  expect(ephemeral.node.validate()).toEqual([
    expect.stringContaining('labels, annotations and selector have no effect: remove them, or ephemeral'),
  ]);
});

test('the certificate of cert-manager has the names by which clients outside know the members', () => {
  const tls = EtcdTls.certManager({ issuer: 'ca', serverNames: ['etcd.example.com', '192.0.2.7'] });
  const all = objects({ tls });
  const { spec } = named(all, 'Certificate', 'orders-server-cert');
  expect(spec.dnsNames.at(-1)).toBe('etcd.example.com');
  expect(spec.ipAddresses).toEqual(['127.0.0.1', '192.0.2.7']);
  expect(named(all, 'Certificate', 'orders-peer-cert').spec.dnsNames).not.toContain('etcd.example.com');
});

test('a Service of a member that there is not is refused', () => {
  const externalServices = { type: 'NodePort', members: [{ ordinal: 5, nodePort: 30_085 }] };
  expect(new EtcdCluster(Testing.chart(), 'orders', { externalServices }).node.validate()).toEqual([
    'externalServices.members[0].ordinal: 5 is of no member of size 3; give at most 2, or remove it',
  ]);
});
