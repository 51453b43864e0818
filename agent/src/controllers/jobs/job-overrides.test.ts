import { withOverrides } from './job-overrides.ts';

const schedule = { name: 'hourly', cron: '@hourly', stores: [] };
const initContainers = [{ name: 'x' }];
const template = { spec: { initContainers, containers: [{ name: 'backup', image: 'r/agent:1' }] } };

test('a fault in a Job is of the resource that has the field', () => {
  const made = (sources: object) => () => withOverrides({ template }, undefined, sources);
  expect(made({ schedule, own: { initContainers } })).toThrow(/^spec[.]initContainers\[x\]: has no image/);
  expect(made({ schedule: { ...schedule, initContainers } })).toThrow(
    /schedules\[hourly\]: spec[.]initContainers\[x\]: has no image/,
  );
});
