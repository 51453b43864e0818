import { Chart, Cron, Size, Testing } from 'cdk8s';
import { s3 } from '../../test/synth';
import {
  type BackupScheduleOptions,
  EtcdBackup,
  type EtcdBackupProps,
  EtcdCluster,
  type EtcdClusterProps,
  EtcdRestore,
  type ObjectOverride,
  OverrideTarget,
  RestoreSource,
} from '..';
import { ImportedEtcdCluster } from '../cluster/external-etcd-cluster';

const source = RestoreSource.snapshot(s3, 'etcd-snapshot-20261121-023807-3f9c2a');
const chartOf = () => new Chart(Testing.app(), 'shop', { namespace: 'shop' });
const pods = (spec: object): ObjectOverride => ({ target: OverrideTarget.BACKUP_PODS, patch: { spec } });
const v = { name: 'v', emptyDir: {} };
const mountPath = '/v';

interface Around {
  readonly cluster?: EtcdClusterProps;
  readonly schedule?: Partial<BackupScheduleOptions>;
}

function orders(chart: Chart, { cluster, schedule }: Around): EtcdCluster {
  const made = new EtcdCluster(chart, 'orders', cluster);
  made.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3, ...schedule });
  return made;
}

function ofBackup(props: Partial<EtcdBackupProps>, around: Around = {}): string[] {
  const chart = chartOf();
  return new EtcdBackup(chart, 'now', {
    ...{ cluster: orders(chart, around), schedule: 'nightly' },
    ...props,
  }).node.validate();
}

function ofRestore(props: object, around: Around = {}): string[] {
  const chart = chartOf();
  return new EtcdRestore(chart, 'back', { cluster: orders(chart, around), source, ...props }).node.validate();
}

const imported = (chart: Chart) =>
  new ImportedEtcdCluster(chart, 'there', { clusterName: 'orders', clientEndpoints: ['http://orders:2379'] });

describe.each([
  ['an EtcdBackup', ofBackup],
  ['an EtcdRestore', ofRestore],
])('the Job of %s', (_, problemsOf) => {
  test.each<[string, object, Around]>([
    [
      'removes the nodes of its schedule',
      { overrides: [pods({ nodeSelector: null })] },
      { schedule: { nodeSelector: { disk: 'slow' } } },
    ],
    [
      'removes the nodes of the members',
      { overrides: [pods({ nodeSelector: null })] },
      { cluster: { nodeSelector: { disk: 'slow' } } },
    ],
    [
      'removes a proxy of its reconciler',
      { overrides: [pods({ containers: [{ name: 'backup', env: [{ name: 'HTTPS_PROXY', $patch: 'delete' }] }] })] },
      {},
    ],
    [
      'removes a volume of its schedule',
      { overrides: [pods({ volumes: [{ name: 'v', $patch: 'delete' }] })] },
      { schedule: { volumes: [v] } },
    ],
    [
      'mounts a volume of its schedule',
      { container: { volumeMounts: [{ name: 'v', mountPath }] } },
      { schedule: { volumes: [v] } },
    ],
    [
      'mounts a volume of an override of its cluster',
      { overrides: [pods({ containers: [{ name: 'backup', volumeMounts: [{ name: 'v', mountPath }] }] })] },
      { cluster: { overrides: [pods({ volumes: [v] })] } },
    ],
    [
      'changes a container of its schedule',
      { overrides: [pods({ initContainers: [{ name: 'first', env: [], image: 'b:2' }] })] },
      { schedule: { initContainers: [{ name: 'first', image: 'a:1' }] } },
    ],
    [
      'replaces the volumes and the mounts',
      { volumes: [{ ...v, name: 'w' }], container: { volumeMounts: [{ name: 'w', mountPath }] } },
      { schedule: { volumes: [v], container: { volumeMounts: [{ name: 'v', mountPath }] } } },
    ],
  ])('%s', (_, props, around) => {
    expect(problemsOf(props, around)).toEqual([]);
  });

  const mounting = { schedule: { volumes: [v], container: { volumeMounts: [{ name: 'v', mountPath }] } } };

  test.each<[string, object, Around, string]>([
    [
      'volumes that replace those of the schedule while its mount stays',
      { volumes: [{ ...v, name: 'w' }] },
      mounting,
      "volumes, with the container.volumeMounts[/v] that the Job has besides: there is no volume 'v'; add it to volumes",
    ],
    [
      'a mount without its volume',
      { container: { volumeMounts: [{ name: 'w', mountPath }] } },
      mounting,
      "container.volumeMounts[/v]: there is no volume 'w'; add it to volumes",
    ],
    [
      'a volume of the schedule that an override removes while its mount stays',
      { overrides: [pods({ volumes: [{ name: 'v', $patch: 'delete' }] })] },
      mounting,
      "overrides[0].patch.spec.containers[backup].volumeMounts[/v]: there is no volume 'v'; add it to volumes",
    ],
    [
      'what the schedule has already',
      { overrides: [pods({ nodeSelector: { disk: 'slow' } })] },
      { schedule: { nodeSelector: { disk: 'slow' } } },
      'overrides[0].patch: changes nothing, because the Job already has all of it; correct or remove it',
    ],
  ])('is refused %s', (_, props, around, says) => {
    expect(problemsOf(props, around)).toEqual([says]);
  });

  test('leaves the mistakes of its schedule to it', () => {
    expect(problemsOf({}, { schedule: { volumes: [v, v] } })).toEqual([]);
  });
});

describe('what a Job has of a cluster that is not in the app', () => {
  test.each([
    { container: { volumeMounts: [{ name: 'v', mountPath }] } },
    { dnsPolicy: 'None' },
    { overrides: [pods({ nodeSelector: null })] },
    { overrides: [pods({ volumes: [{ name: 'v', $patch: 'delete' }] })] },
    { overrides: [pods({ initContainers: [{ name: 'first', env: [{ name: 'A', value: 'a' }] }] })] },
  ])('may fit %j', (props) => {
    const chart = chartOf();
    const cluster = imported(chart);
    expect(new EtcdBackup(chart, 'now', { cluster, schedule: 'nightly', ...props }).node.validate()).toEqual([]);
    expect(new EtcdRestore(chart, 'back', { cluster, source, ...props }).node.validate()).toEqual([]);
  });

  test.each([
    [{ volumes: [v, v] }, 'volumes[v]: has the name of another volume; choose another name'],
    [{ overrides: [pods({ restartPolicy: 'Always' })] }, 'overrides[0].patch.spec.restartPolicy: cannot be overridden'],
  ])('does not excuse %j', (props, says) => {
    const chart = chartOf();
    const all = { cluster: imported(chart), schedule: 'nightly', ...props };
    expect(new EtcdBackup(chart, 'now', all).node.validate()).toEqual([expect.stringContaining(says)]);
  });
});

test('a Job without a cluster has only what it says itself', () => {
  const all = { endpoints: ['http://10.0.0.1:2379'], store: s3 };
  const container = { volumeMounts: [{ name: 'v', mountPath }] };
  expect(new EtcdBackup(chartOf(), 'now', { ...all, container }).node.validate()).toEqual([
    "container.volumeMounts[/v]: there is no volume 'v'; add it to volumes",
  ]);
});

describe('the memory of a Job that opens its snapshot', () => {
  const limited = (memory: string) => pods({ containers: [{ name: 'backup', resources: { limits: { memory } } }] });
  const volume = { size: Size.gibibytes(20) };
  const says = (place: string, memory: string) =>
    `${place}: the Job opens the snapshot, and needs a limit of memory of at least an eighth of the quota: ${memory} is too little; give at least 1024Mi`;

  test.each<[object, Around, string]>([
    [{}, { cluster: { volume, overrides: [limited('1023Mi')] } }, 'EtcdCluster orders: spec.overrides[0].patch'],
    [
      {},
      { cluster: { volume }, schedule: { overrides: [limited('1023Mi')] } },
      'EtcdCluster orders: spec.backup.schedules[nightly].overrides[0].patch',
    ],
    [{ overrides: [limited('1023Mi')] }, { cluster: { volume, overrides: [limited('900Mi')] } }, 'overrides[0].patch'],
    [{ resources: { memoryLimit: Size.mebibytes(1023) } }, { cluster: { volume } }, 'resources'],
  ])('of a restore: %j, %j', (props, around, place) => {
    expect(ofRestore(props, around)).toEqual([says(place, '1023Mi')]);
  });

  test('is judged when all overrides are made', () => {
    const around = { cluster: { volume, overrides: [limited('900Mi')] } };
    expect(ofRestore({ overrides: [limited('1Gi')] }, around)).toEqual([]);
  });

  const ofOrigin = (origin: object, props: EtcdClusterProps = {}) =>
    new EtcdCluster(chartOf(), 'orders', { ...props, volume, origin: { source, ...origin } }).node.validate();

  test('is judged for an origin', () => {
    expect(ofOrigin({ resources: { memoryLimit: Size.mebibytes(512) } })).toEqual([says('origin.resources', '512Mi')]);
    expect(ofOrigin({}, { overrides: [limited('512Mi')] })).toEqual([says('overrides[0].patch', '512Mi')]);
    expect(ofOrigin({ resources: { memoryLimit: Size.gibibytes(1) } })).toEqual([]);
    expect(ofOrigin({})).toEqual([]);
  });
});
