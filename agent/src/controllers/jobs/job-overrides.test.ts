import { finished } from './job-overrides.ts';

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
