import { html } from './report/html';
import { type ChaosRun, rates, type Sample, spans } from './report/run';

const samples: Sample[] = [
  { at: 0, written: 0, troubles: [] },
  { at: 2000, written: 40, operation: 'Growing to 5', troubles: ['Degraded: MemberDown'], alerts: [] },
  { at: 4000, operation: 'Growing to 5', troubles: ['Degraded: MemberDown', 'QuorumLost: MajorityDown'] },
  { at: 6000, written: 40, troubles: ['QuorumLost: MajorityDown'], alerts: ['EtcdQuorumLost'] },
  { at: 8000 },
  { at: 10_000, written: 80, troubles: ['QuorumLost: MajorityDown'] },
];

const run: ChaosRun = {
  seed: 7,
  samples,
  faults: [
    {
      number: 1,
      what: 'a pod is deleted; 3 s later <b>"another" & more</b>',
      from: 1000,
      to: 5000,
      longestGap: 400,
      elections: 1,
    },
    { number: 2, what: 'a volume is lost', from: 6000, failed: true },
  ],
};

test('a span lasts as long as something is seen, and ends when nothing can be read', () => {
  expect(spans(samples, ({ troubles }) => troubles)).toEqual([
    { from: 2000, to: 6000, what: 'Degraded: MemberDown' },
    { from: 4000, to: 8000, what: 'QuorumLost: MajorityDown' },
    { from: 10_000, to: 10_000, what: 'QuorumLost: MajorityDown' },
  ]);
});

test('rates are those between samples that could be read; a client that began anew has none below zero', () => {
  expect(rates(samples)).toEqual([
    { from: 0, to: 2000, perSecond: 20 },
    { from: 2000, to: 6000, perSecond: 0 },
    { from: 6000, to: 10_000, perSecond: 10 },
  ]);
  expect(
    rates([
      { at: 0, written: 9 },
      { at: 1000, written: 3 },
    ])[0]?.perSecond,
  ).toBe(0);
});

test('the page has each fault, operation and condition, and escapes what it prints', () => {
  const page = html(run);
  expect(page).toContain('Chaos, seed 7: 2 faults, 1 failed');
  expect(page).toContain('80 acknowledged writes');
  expect(page).toContain('&lt;b&gt;&quot;another&quot; &amp; more&lt;/b&gt;');
  expect(page).not.toContain('<b>');
  expect(page).toContain('<title>Growing to 5, 4.0 s</title>');
  expect(page).toContain('<title>QuorumLost: MajorityDown, 4.0 s</title>');
  expect(page).toContain('<title>EtcdQuorumLost, 2.0 s</title>');
  expect(page.match(/class="gap"/g)).toHaveLength(1);
  expect(page).toContain('<td class="failed">never</td>');
  expect(page).toBe(html(run));
});

test('a run that did not watch the alerts has no lane for them', () => {
  const unwatched = samples.map(({ alerts: _, ...sample }) => sample);
  expect(html(run)).toContain('>Alerts<');
  expect(html({ ...run, samples: unwatched })).not.toContain('>Alerts<');
});

test('no value of the picture is NaN, also of a run that ended at once', () => {
  for (const each of [
    run,
    { ...run, samples: [] },
    { seed: 1, faults: [], samples: [{ at: 5 }] },
    { seed: 1, faults: [], samples: [] },
  ])
    expect(html(each)).not.toMatch(/NaN|undefined|Infinity/);
});
