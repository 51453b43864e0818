// Certificates of the same authority are replaced under writes, one member and one client after the other.

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import type { Minor } from '../harness/etcd-binaries.ts';
import type { LocalCluster } from '../local/cluster.ts';
import { memberIds } from './checks/facts.ts';
import { scenario } from './support/scenario.ts';
import { some } from './support/smoke.ts';

/** Fingerprint of the certificate that the client port presents now. */
function fingerprint({ endpoints, tls }: LocalCluster, ordinal: number): Promise<string> {
  const { hostname, port } = new URL(endpoints[ordinal]!);
  const read = (path: string) => readFileSync(path);
  const material = { ca: read(tls!.ca), cert: read(tls!.client.cert), key: read(tls!.client.key) };
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), ...material }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

for (const minor of some<Minor>(['3.5', '3.6', '3.7'], ['3.7'])) {
  scenario(`certificates of a ${minor} cluster replaced under writes`, { size: 3, minor, tls: true }, async (play) => {
    const { cluster, writer } = play;
    await play.formed();
    const before = memberIds(cluster);
    const shown = await Promise.all([0, 1, 2].map((i) => fingerprint(cluster, i)));
    const since = writer.now;
    for (let round = 0; round < 3; round++) {
      await cluster.replaceCertificates();
      await writer.more(50);
      await sleep(500);
    }
    expect(play.missed(since)).toEqual([]);
    for (const i of [0, 1, 2]) expect(await fingerprint(cluster, i)).not.toBe(shown[i]);
    // Connections made with the old certificates are opened again with the new ones.
    for (const i of [0, 1, 2]) {
      await play.converges(`member ${i} restarted`, async () => {
        const { etcdPid } = cluster.pod(i);
        cluster.killEtcd(i);
        cluster.killAgent(i);
        await cluster.until(() => ![etcdPid, undefined].includes(cluster.pod(i).etcdPid), 'another etcd is started');
      });
    }
    await play.converges('a volume lost', async () => {
      await cluster.loseVolume(2);
      await cluster.until(() => cluster.record()?.members[2]?.memberId !== before[2], 'the member is removed');
    });
    await writer.more(20);
  });
}
