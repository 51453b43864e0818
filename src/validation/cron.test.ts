import { cronProblem, longestGap } from './cron';

/** The answers are those of robfig/cron 3.0.1, the parser of Kubernetes. */
test.each([
  '* * * * *',
  '? ? ? ? ?',
  '*/15 0-6,22,23 1-31/2 JAN-dec mon-FRI',
  '5/20 * * * sun',
  '0  0\t1 * *',
  '1,,2 * * * *',
  '+5 * * * *',
  '0 0 29 2 *',
  '0 0 31 2 mon',
  '0 0 31 1-2 *',
  '*-5 * * * *',
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
  '@every 1h30m',
])('%j fires', (schedule) => {
  expect(cronProblem(schedule)).toBeUndefined();
});

test.each([
  ['', 'has 0 fields; give 5: minute, hour, day of month, month, day of week'],
  ['* * * *', 'has 4 fields'],
  ['0 * * * * *', 'has 6 fields'],
  ['60 * * * *', "minute '60' is not within 0 to 59"],
  ['* 24 * * *', "hour '24' is not within 0 to 23"],
  ['* * 0 * *', "day of month '0' is not within 1 to 31"],
  ['* * 32 * *', "day of month '32' is not within"],
  ['* * * 13 *', "month '13' is not within 1 to 12"],
  ['* * * * 7', "day of week '7' is not within 0 to 6; Sunday is 0"],
  ['* * * * sat-8', 'is not within 0 to 6'],
  ['5-1 * * * *', "minute '5-1' ends before it begins"],
  ['1-2-3 * * * *', "minute '1-2-3' is not valid"],
  ['*/5/5 * * * *', 'is not valid'],
  ['*/0 * * * *', "minute '*/0' needs a step above zero"],
  ['*/-1 * * * *', 'needs a step above zero'],
  ['*/x * * * *', 'needs a step above zero'],
  ['jan * * * *', "'jan' is not a valid minute"],
  ['* * * monday *', "'monday' is not a valid month"],
  ['* * L * *', "'L' is not a valid day of month"],
  ['* * * * 5#2', "'5#2' is not a valid day of week"],
  ['0 0 31 2 *', 'never fires'],
  ['0 0 30,31 feb ?', 'never fires'],
  ['0 0 31 4,6,9,11 *', 'never fires'],
  [', * * * *', 'never fires'],
  ['TZ=UTC 0 0 * * *', 'use timeZone'],
  ['CRON_TZ=UTC 0 0 * * *', 'use timeZone'],
  ['@Daily', 'is not a valid schedule; use 5 fields, @yearly'],
  [' @daily', 'has 1 fields'],
  ['@reboot', 'is not a valid schedule'],
  ['@every day', 'is not a valid schedule'],
])('%j does not: %s', (schedule, message) => {
  expect(cronProblem(schedule)).toContain(message);
});

test.each([
  ['* * * * *', 1],
  ['*/15 * * * *', 15],
  ['7 * * * *', 60],
  ['0 0 * * *', 24 * 60],
  ['0 22,4 * * *', 18 * 60],
  ['30 2 * * mon-fri', 3 * 24 * 60],
  ['0 0 1 * *', 31 * 24 * 60],
  ['0 0 1 1 *', 366 * 24 * 60],
  ['0 0 29 2 *', 2921 * 24 * 60],
  ['0 0 31 * mon', 7 * 24 * 60],
  ['@hourly', 60],
  ['@weekly', 7 * 24 * 60],
  ['@every 1h30m', 90],
  ['0 0 31 2 *', undefined],
])('%j runs at least every %s minutes', (schedule, minutes) => {
  expect(longestGap(schedule)).toBe(minutes);
});
