import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { alertsOnConditions } from '../../../src/monitoring/alerts/condition-alerts.ts';
import { Prometheus } from './prometheus.ts';

// The rules are those of the library, but for their time. What is scraped is written here: a state that no cluster is in.
test('an alert names the reason that the condition has now, and links to it', async () => {
  const labels = 'etcd_cluster="orders",condition="Degraded",status="True"';
  let reason = 'Joining';
  const server = createServer((_, response) => {
    response.end(`etcd_cluster_condition{${labels},reason="${reason}"} 1\n`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const rules = alertsOnConditions({ cluster: 'orders', namespace: 'shop' }).map(
    ({ name: alert, severity, expr, summary, runbook = '' }) => ({
      ...{ alert, expr, for: '0s', labels: { severity } },
      annotations: { summary, runbook_url: runbook },
    }),
  );
  try {
    await using prometheus = await Prometheus.start(
      [{ address: `127.0.0.1:${port}`, labels: { namespace: 'shop' } }],
      [{ name: 'etcd', rules }],
    );
    const degraded = async (wanted: string) => {
      for (const deadline = Date.now() + 30_000; ; await sleep(500)) {
        const found = (await prometheus.alerts()).find(({ labels }) => labels.alertname === 'EtcdDegraded');
        if (found?.annotations.summary?.includes(wanted) || Date.now() > deadline) return found;
      }
    };
    expect(await degraded('Joining')).toMatchObject({
      labels: { severity: 'warning', namespace: 'shop', etcd_cluster: 'orders', condition: 'Degraded' },
      annotations: {
        summary: expect.stringMatching(/ Reason: Joining\.$/),
        runbook_url: 'runbook.md#joining',
      },
    });
    reason = 'Stuck';
    expect((await degraded('Stuck'))?.annotations.runbook_url).toMatch(/#stuck$/);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
