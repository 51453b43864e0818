import { backupProblem, finished, jobProblem } from './job-overrides.ts';

const schedule = { name: 'hourly', cron: '@hourly', stores: [] };
const initContainers = [{ name: 'x' }];
const job = { template: { spec: { containers: [{ name: 'backup', image: 'r/agent:1' }] } } };

test('a fault in a Job is of the resource that has the field', () => {
  const made = (sources: object) => () => finished(job, sources, { opens: false });
  expect(made({ schedule, own: { initContainers } })).toThrow(/^spec[.]initContainers\[x\]: has no image/);
  expect(made({ schedule: { ...schedule, initContainers } })).toThrow(
    /schedules\[hourly\][.]initContainers\[x\]: has no image/,
  );
});

test('a field that does not fit one of the schedule is to blame', () => {
  const v = { name: 'v', emptyDir: {} };
  const mounting = { ...schedule, volumes: [v], container: { volumeMounts: [{ name: 'v', mountPath: '/v' }] } };
  expect(() =>
    finished(job, { schedule: mounting, own: { volumes: [{ ...v, name: 'w' }] } }, { opens: false }),
  ).toThrow(
    /^spec[.]volumes, with the container[.]volumeMounts\[\/v\] that the Job has besides: there is no volume 'v'/,
  );
});

describe('before a Job is made', () => {
  const patching = (spec: object) => [{ target: 'BackupPods' as const, patch: { spec } }];
  const wrong = patching({ restartPolicy: 'Always' });
  const problemOf = (spec: object) => jobProblem({ spec: { size: 3, version: '3.6.16', ...spec } });

  test.each<[string, object, RegExp | undefined]>([
    ['of the cluster', { overrides: wrong }, /^spec[.]overrides\[0\][.]patch[.]spec[.]restartPolicy: cannot be/],
    ['with an unknown field', { overrides: patching({ hostNetworks: true }) }, /^spec[.]overrides\[0\].*hostNetworks/],
    [
      'of a schedule',
      { backup: { schedules: [schedule, { ...schedule, name: 'daily', overrides: wrong }] } },
      /^spec[.]backup[.]schedules\[daily\][.]overrides\[0\][.]patch/,
    ],
    [
      'with too little memory to open the snapshot',
      {
        quota: '16Gi',
        backup: { schedules: [{ ...schedule, verify: 'open', resources: { limits: { memory: '1Gi' } } }] },
      },
      /^spec[.]backup[.]schedules\[hourly\][.]resources: the Job opens the snapshot/,
    ],
    [
      'that are right',
      { overrides: patching({ shareProcessNamespace: true }), backup: { schedules: [schedule] } },
      undefined,
    ],
    [
      'of other pods',
      { overrides: [{ target: 'MemberPods', patch: { spec: { restartPolicy: 'Never' } } }] },
      undefined,
    ],
  ])('overrides %s', (_, spec, message) => {
    const problem = problemOf(spec);
    if (message) expect(problem).toMatch(message);
    else expect(problem).toBeUndefined();
  });

  test('an EtcdBackup is judged alone: its schedule may have what it mounts', () => {
    const store = { s3: { bucket: 'b' } };
    expect(backupProblem({ spec: { store, overrides: wrong } })).toMatch(/^spec[.]overrides\[0\][.]patch/);
    const volumeMounts = [{ name: 'v', mountPath: '/v' }];
    expect(
      backupProblem({ spec: { clusterName: 'orders', schedule: 'hourly', container: { volumeMounts } } }),
    ).toBeUndefined();
  });
});
