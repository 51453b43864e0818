import { CpuPressure } from './cpu-pressure.ts';

const line = (ms: number) => `some avg10=1.00 avg60=1.00 avg300=1.00 total=${ms * 1_000}\nfull avg10=0.00 total=0\n`;

test('the share of the time in which a process waited', () => {
  let waited = 0;
  const pressure = new CpuPressure(() => line(waited));
  for (const [at, ms] of [
    [0, 0],
    [250, 250],
    [500, 300],
  ] as const) {
    waited = ms;
    pressure.sample(at);
  }
  expect(pressure.share(10, 240)).toBe(1);
  expect(pressure.share(10, 400)).toBe(0.6);
  expect(pressure.share(10, 600)).toBe(0);
});

test('a kernel that does not count reports no waiting', () => {
  const pressure = new CpuPressure(() => {
    throw new Error('ENOENT');
  });
  pressure.sample(0);
  pressure.sample(100);
  expect(pressure.share(10, 90)).toBe(0);
});
