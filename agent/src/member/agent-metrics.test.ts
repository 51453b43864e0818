import { render } from '../lib/metrics/render.ts';
import { metrics } from '../lib/metrics/table.ts';
import { agentSamples } from './agent-metrics.ts';
import { initialStatus } from './sidecar/serve-status.ts';

const config = { pod: 'db-0', podUid: 'u', podIp: '', ordinal: 0, etcdVersion: '3.6.1', minEpoch: 0 };
const initial = initialStatus(config as Parameters<typeof initialStatus>[0]);
const status = {
  ...{ ...initial, reason: 'NoRecord', recordRev: 1, etcd: { up: true } as never },
  volume: { walPresent: true, freeBytes: 1, totalBytes: 2, quarantineCount: 0, identity: { epoch: 1 } as never },
};

test('a member reports every metric of the table that is its own', () => {
  const exposed = agentSamples(status, {
    now: 9,
    recordReadAt: 1,
    waitingSince: 1,
    certificates: { peer: { from: 0, to: 1 } },
  });
  const own = Object.entries(metrics).flatMap(([name, { from }]) =>
    from.some((each) => each === 'member agent') ? name : [],
  );
  expect([...new Set(exposed.map(({ name }) => name))].sort()).toEqual(own.sort());
});

test('each certificate that can be read has its end, and no other has one', async () => {
  const text = await render(
    agentSamples(status, {
      now: 9_000,
      certificates: { peer: { from: 1_000, to: 5_000 }, client: { from: 0, to: 7_500 } },
    }),
  );
  expect(text.match(/^etcd_agent_certificate_\S+ .*$/gm)).toEqual([
    'etcd_agent_certificate_expiry_timestamp_seconds{certificate="peer"} 5',
    'etcd_agent_certificate_expiry_timestamp_seconds{certificate="client"} 7.5',
    'etcd_agent_certificate_lifetime_seconds{certificate="peer"} 4',
    'etcd_agent_certificate_lifetime_seconds{certificate="client"} 7.5',
  ]);
});

test('what is not known has no series', async () => {
  const text = await render(agentSamples(initial, { now: 9 }));
  expect(text).not.toMatch(/^etcd_agent_(epoch|record_\w+|etcd_up|certificate\w+|reason)\b/m);
  expect(text).toMatch(/^etcd_agent_permit_wait_seconds 0$/m);
});
