import type { PodObject, Volume } from '../../kube/objects.ts';
import type { ClusterStatus, ReportedCondition } from '../../protocol/cluster-status.ts';
import { known } from '../../protocol/known.ts';
import { ordinalOf, podOf } from '../kubernetes/pod.ts';
import { conditionEvents } from '../kubernetes/status-events.ts';
import { clusterOf, type EtcdClusterObject } from './cluster-object.ts';
import { type EtcdRestoreObject, restoreOf } from './restore-object.ts';
import { domainOf, statefulSetOf } from './stateful-set.ts';

const metadata = { name: 'orders', namespace: 'shop', uid: 'u', resourceVersion: '7', creationTimestamp: '' };
const around = { domain: 'cluster.local', reconcilerGoing: false };
const specOf = (spec: Partial<EtcdClusterObject['spec']>) =>
  clusterOf({ metadata, spec: { size: 3, version: '3.6.16', ...spec } }, around).spec;

test('missing fields of the custom resource get the documented defaults', () => {
  expect(specOf({})).toEqual({
    ...{ size: 3, allowEvenSize: false, version: '3.6.16', paused: false, tls: false, ephemeral: false },
    replace: { policy: 'OnVolumeLoss', force: [] },
    ...{ onShrink: 'Retain', onDelete: 'Retain', requiredForUpgrade: false, finalBackupRequired: false },
    onNoSpace: 'CompactDefragDisarm',
  });
});

test('TLS is on with the Secret of a client certificate', () => {
  expect(specOf({ tls: { peerSecret: 'p', serverSecret: 's', clientSecret: 'orders-client-tls' } }).tls).toBe(true);
});

test('a final backup is required if volumes are deleted, unless it is disabled', () => {
  expect(specOf({ pvcPolicy: { onDelete: 'Delete' } }).finalBackupRequired).toBe(true);
  expect(specOf({ pvcPolicy: { onDelete: 'Delete' }, finalBackup: { required: false } }).finalBackupRequired).toBe(
    false,
  );
});

test('operations use the first schedule, unless another one is named', () => {
  const schedules = [
    { name: 'hourly', cron: '0 * * * *', stores: [] },
    { name: 'nightly', cron: '0 2 * * *', stores: [] },
  ];
  expect(specOf({ backup: { schedules } }).schedule).toBe('hourly');
  expect(specOf({ backup: { schedules, schedule: 'nightly' } }).schedule).toBe('nightly');
});

test('how the Job of an origin runs is not recorded with it', () => {
  const source = { backupName: 'before' };
  const job = { image: 'a', serviceAccountName: 'b', resources: { limits: { memory: '2Gi' } } };
  expect(specOf({ origin: { source, sha256: 'c', ...job } }).origin).toEqual({ source, sha256: 'c' });
});

test('the order of the fields does not change a restore request', () => {
  const restore = (spec: EtcdRestoreObject['spec']) => restoreOf({ metadata, spec });
  const source = { store: { s3: { bucket: 'b' } }, snapshotId: 'x' };
  const turned = { snapshotId: 'x', store: { s3: { bucket: 'b' } } };
  const first = restore({ clusterName: 'orders', source });
  expect(first).toMatchObject({ name: 'orders', safetyBackup: true, ignoreUnreachablePods: false });
  expect(restore({ source: turned, clusterName: 'orders' }).specHash).toBe(first.specHash);
  expect(restore({ clusterName: 'orders', source, sha256: 'ab' }).specHash).not.toBe(first.specHash);
  expect(restore({ clusterName: 'orders', source, again: '2' }).specHash).not.toBe(first.specHash);
  expect(restore({ clusterName: 'orders', source, image: 'newer' }).specHash).toBe(first.specHash);
});

test('the facts of a StatefulSet', () => {
  const gate = {
    name: 'gate',
    image: 'i',
    args: ['gate', '--cluster-domain=k8s.example'],
    env: [{ name: 'ETCD_VERSION', value: '3.6.16' }],
  };
  const template = {
    metadata: { annotations: { 'cdk8s-etcd.dev/epoch': '4' } },
    spec: { initContainers: [gate], containers: [] },
  };
  const set = {
    metadata: { ...metadata, generation: 3 },
    spec: { replicas: 0, template },
    status: { observedGeneration: 2, updateRevision: 'r' },
  };
  expect(statefulSetOf(set)).toEqual({
    ...{ replicas: 0, rv: '7', updateRevision: 'r', observed: false, minEpoch: 4, version: '3.6.16' },
    tlsSecrets: {},
  });
  const volumes = ['peer', 'server'].map((each) => ({ name: `${each}-tls`, secret: { secretName: `orders-${each}` } }));
  const secured = { ...set, spec: { ...set.spec, template: { ...template, spec: { ...template.spec, volumes } } } };
  expect(statefulSetOf(secured).tlsSecrets).toEqual({ peer: 'orders-peer', server: 'orders-server' });
  expect(domainOf(template)).toBe('k8s.example');
  expect(
    ['orders-0', 'orders-12', 'orders-x', 'orders-01', 'orders', 'order-1'].map((n) => ordinalOf(n, 'orders')),
  ).toEqual([0, 12, undefined, undefined, undefined, undefined]);
});

test('whom a pod trusts: its own Secret, or both while the source of the certificates changes', () => {
  const [tlsCrt, list] = [{ path: 'tls.crt' }, { path: 'ca.crl' }];
  const volume = (own: string) => ({
    name: 'peer-tls',
    projected: {
      sources: [
        { secret: { name: 'a-peer', items: [list] } },
        { secret: { name: 'trust', items: [{ path: 'ca.crt' }] } },
        { secret: { name: own, items: [tlsCrt] } },
      ],
    },
  });
  const peersIn = (volumes: Volume[], annotations?: Record<string, string>) =>
    podOf({ metadata: { ...metadata, ...(annotations && { annotations }) }, spec: { volumes } }, 0, known(true)).peers;
  expect(peersIn([])).toBeUndefined();
  expect(peersIn([{ name: 'peer-tls', secret: { secretName: 'a-peer' } }])).toEqual({
    own: 'a-peer',
    trusted: ['a-peer'],
  });
  expect(peersIn([volume('b-peer')], { 'cdk8s-etcd.dev/trusts': 'b-peer,a-peer' })).toEqual({
    own: 'b-peer',
    trusted: ['b-peer', 'a-peer'],
  });
  const template = {
    metadata: { annotations: { 'cdk8s-etcd.dev/trusts': 'a-peer,b-peer' } },
    spec: { containers: [], volumes: [volume('a-peer')] },
  };
  expect(statefulSetOf({ metadata, spec: { template } })).toMatchObject({
    peers: { own: 'a-peer', trusted: ['a-peer', 'b-peer'] },
    tlsSecrets: { peer: 'a-peer' },
  });
});

test('a pod runs when its init phase has begun, and not after its end', () => {
  const pod = (status: PodObject['status']) => podOf({ metadata, status: status! }, 0, known(true)).running;
  const initContainerStatuses = [{ name: 'gate', state: { running: {} } }];
  expect(pod({ podIP: '10.0.0.1', initContainerStatuses })).toBe(true);
  expect(pod({ podIP: '10.0.0.1', initContainerStatuses: [{ name: 'gate', state: {} }] })).toBe(false);
  const further = [{ name: 'wait', state: { running: {} } }];
  expect(pod({ podIP: '10.0.0.1', initContainerStatuses: further })).toBe(false);
  expect(pod({ initContainerStatuses })).toBe(false);
  expect(pod({ podIP: '10.0.0.1', initContainerStatuses, phase: 'Failed' })).toBe(false);
});

test('a pod has begun once one of its containers has run, also after a restart of its node', () => {
  const began = (status: PodObject['status']) => podOf({ metadata, status: status! }, 0, known(true)).began;
  const waiting = { name: 'gate', state: { waiting: { reason: 'PodInitializing' } } };
  expect(began({})).toBe(false);
  expect(began({ initContainerStatuses: [{ ...waiting, restartCount: 0 }] })).toBe(false);
  expect(began({ initContainerStatuses: [{ ...waiting, restartCount: 1 }] })).toBe(true);
  expect(began({ containerStatuses: [{ ...waiting, lastState: { terminated: {} } }] })).toBe(true);
  expect(began({ initContainerStatuses: [{ name: 'gate', state: { running: {} } }] })).toBe(true);
});

const condition = (
  type: ReportedCondition['type'],
  status: ReportedCondition['status'],
  reason: ReportedCondition['reason'],
) => ({
  ...{ type, status, reason, message: 'm', lastTransitionTime: '' },
});
const status = (...conditions: ReportedCondition[]): ClusterStatus => ({
  ...{ phase: '', reason: '', message: '', members: [], conditions },
});
const told = (before: ClusterStatus | undefined, now: ClusterStatus) =>
  conditionEvents(before, now).map(({ type, reason }) => `${type} ${reason}`);

test('only changes cause events', () => {
  const well = status(condition('Degraded', 'False', 'AllMembersHealthy'), condition('Ready', 'True', 'UpToDate'));
  const down = status(condition('Degraded', 'True', 'MemberDown'), condition('Ready', 'False', 'NotUpToDate'));
  const lost = status(condition('Degraded', 'True', 'VolumeLost'), condition('Ready', 'False', 'NotUpToDate'));
  expect(told(undefined, well)).toEqual(['Normal UpToDate']);
  expect(told(well, well)).toEqual([]);
  expect(told(well, down)).toEqual(['Warning MemberDown']);
  expect(told(down, lost)).toEqual(['Warning VolumeLost']);
  expect(told(lost, well)).toEqual(['Normal AllMembersHealthy', 'Normal UpToDate']);
  expect(told(well, status(condition('Progressing', 'True', 'Growing')))).toEqual(['Normal Growing']);
});

test('certificates cause a warning when a person is needed, not while they are issued', () => {
  const ready = (is: ReportedCondition['status'], reason: ReportedCondition['reason']) =>
    status(condition('CertificatesReady', is, reason));
  const good = ready('True', 'CertificatesValid');
  expect(told(undefined, ready('False', 'Issuing'))).toEqual([]);
  expect(told(ready('False', 'Issuing'), good)).toEqual([]);
  expect(told(good, ready('False', 'AuthorityLost'))).toEqual(['Warning AuthorityLost']);
  expect(told(ready('False', 'AuthorityLost'), ready('Unknown', 'StateUnknown'))).toEqual([]);
  expect(told(ready('False', 'AuthorityLost'), good)).toEqual(['Normal CertificatesValid']);
});

test('a requested restore causes one event, and its unavailability meanwhile none', () => {
  const serves = status(
    condition('Available', 'True', 'Serving'),
    condition('Progressing', 'True', 'PreparingRestore'),
  );
  const fenced = status(condition('Available', 'False', 'Restoring'), condition('Progressing', 'True', 'Restoring'));
  const back = status(condition('Available', 'True', 'Serving'), condition('Progressing', 'True', 'Growing'));
  expect(told(serves, fenced)).toEqual(['Normal Restoring']);
  expect(told(fenced, back)).toEqual(['Normal Growing']);
});

test('forming, scaling and restarts cause no events, nor do their ends; problems do', () => {
  const born = status(
    condition('Available', 'False', 'Bootstrapping'),
    condition('Degraded', 'Unknown', 'Bootstrapping'),
    condition('QuorumLost', 'Unknown', 'Bootstrapping'),
  );
  const joining = status(condition('Available', 'True', 'Serving'), condition('Degraded', 'False', 'Joining'));
  const starting = status(condition('Available', 'True', 'Serving'), condition('Degraded', 'True', 'Starting'));
  const well = status(condition('Available', 'True', 'Serving'), condition('Degraded', 'False', 'AllMembersHealthy'));
  const steps = [undefined, born, joining, well, starting, well, joining, starting, joining, well];
  expect(steps.slice(1).flatMap((now, i) => told(steps[i], now!))).toEqual([]);
  const stuck = status(
    condition('Available', 'False', 'Bootstrapping'),
    condition('Degraded', 'True', 'PodNotRunning'),
  );
  expect([...told(born, stuck), ...told(stuck, joining)]).toEqual(['Warning PodNotRunning', 'Normal Joining']);
});
