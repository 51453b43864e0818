import { timeZoneProblem } from './times';

test.each([
  'UTC',
  'Etc/UTC',
  'Etc/GMT+1',
  'Europe/Berlin',
  'US/Eastern',
  'Asia/Kolkata',
  'America/Argentina/Buenos_Aires',
])('%s is a time zone', (name) => {
  expect(timeZoneProblem('timeZone', name)).toBeUndefined();
});

test.each(['', 'Local', 'Europe/Atlantis', 'europe/berlin', 'us/eastern', 'utc', '+01:00', 'Europe/Berlin '])(
  '%j is none for Kubernetes',
  (name) => {
    expect(timeZoneProblem('timeZone', name)).toContain('is not an IANA time zone');
  },
);
