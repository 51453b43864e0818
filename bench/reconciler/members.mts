// Simulates all members of all clusters: etcd's gRPC on port 2379, the agent's /status on 8080, and DNS. Forked:
// receives the list of members, and returns the number of requests.
import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';
import { createServer as createHttp2, type ServerHttp2Stream } from 'node:http2';
import { encodeBytes, encodeInt, idOf } from '../../agent/src/etcd/protobuf.ts';
import type { AgentStatus } from '../../agent/src/protocol/agent-status.ts';
import { ports } from '../../src/etcd/cluster-ports.ts';
import { clusterIdOf, type Member, memberIdOf, volumeIdOf } from './member.mts';

const [dnsAddress = '127.0.0.1', dnsPort = '0'] = process.argv.slice(2);
const gibibyte = 2 ** 30;
const index = 120_000;
const revision = 90_000;
const term = 3;

const byAddress = new Map<string, Member>();
const byName = new Map<string, Member>();
let asked: Record<string, number> = {};
const count = (what: string) => {
  asked[what] = (asked[what] ?? 0) + 1;
};

const headerOf = ({ cluster, ordinal }: Member) =>
  encodeBytes(
    1,
    Buffer.concat([
      encodeInt(1, idOf(clusterIdOf(cluster))),
      encodeInt(2, idOf(memberIdOf(cluster, ordinal))),
      encodeInt(3, revision),
      encodeInt(4, term),
    ]),
  );

const nameOf = ({ cluster, namespace }: Member, ordinal: number) =>
  `${cluster}-${ordinal}.${cluster}-peers.${namespace}.svc.cluster.local`;

const answers: Readonly<Record<string, (member: Member) => Uint8Array[]>> = {
  'Maintenance/Status': ({ cluster, version }) => [
    encodeBytes(2, version),
    encodeInt(3, gibibyte / 4),
    encodeInt(4, idOf(memberIdOf(cluster, 0))),
    encodeInt(5, index),
    encodeInt(6, term),
    encodeInt(7, index),
    encodeInt(9, gibibyte / 8),
    encodeBytes(11, version),
    encodeInt(12, 2 * gibibyte),
  ],
  'Cluster/MemberList': (member) =>
    Array.from({ length: member.size }, (_, ordinal) =>
      encodeBytes(
        2,
        Buffer.concat([
          encodeInt(1, idOf(memberIdOf(member.cluster, ordinal))),
          encodeBytes(2, `${member.cluster}-${ordinal}`),
          encodeBytes(3, `http://${nameOf(member, ordinal)}:${ports.peer}`),
          encodeBytes(4, `http://${nameOf(member, ordinal)}:${ports.client}`),
        ]),
      ),
    ),
  'Maintenance/Alarm': () => [],
  'Maintenance/HashKV': () => [encodeInt(2, 12_345), encodeInt(3, -1)],
  'KV/Range': () => [],
};

function statusOf({ cluster, ordinal, version, podUid, clusterUid }: Member): AgentStatus {
  const minor = version.split('.').slice(0, 2).join('.');
  const [memberId, volumeId, clusterId] = [
    memberIdOf(cluster, ordinal),
    volumeIdOf(cluster, ordinal),
    clusterIdOf(cluster),
  ];
  return {
    ...{ v: 1, pod: `${cluster}-${ordinal}`, podUid, ordinal, agentVersion: '0.1.0', etcdBinary: version },
    ...{ state: 'Running', recordRev: 10, minEpoch: 0 },
    volume: {
      ...{ walPresent: true, freeBytes: 6 * gibibyte, totalBytes: 8 * gibibyte, quarantineCount: 0, volumeId },
      identity: {
        ...{ v: 1, clusterUid, epoch: 1, token: 'token', ordinal, volumeId, permitId: 'permit', mode: 'existing' },
        ...{ memberId, clusterId, state: 'sealed', lastVersion: version, runs: 1 },
      },
    },
    etcd: {
      ...{ up: true, memberId, clusterId, hasLeader: true, isLeader: ordinal === 0, isLearner: false, term, version },
      ...{ committedIndex: index, appliedIndex: index, clusterVersion: `${minor}.0` },
      ...{ dbSize: gibibyte / 4, dbInUse: gibibyte / 8, upSince: '2026-01-01T00:00:00Z' },
    },
  };
}

function frame(parts: readonly Uint8Array[]): Buffer {
  const message = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function answer(stream: ServerHttp2Stream, path: string): void {
  const method = path.replace('/etcdserverpb.', '');
  count(method);
  const member = byAddress.get(stream.session?.socket.localAddress ?? '');
  const parts = answers[method];
  if (!member || !parts) {
    const status = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': member ? 12 : 14 };
    stream.respond(status, { endStream: true });
    return;
  }
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }));
  stream.end(frame([headerOf(member), ...parts(member)]));
}

const etcd = createHttp2({ settings: { maxConcurrentStreams: 100 } });
etcd.on('session', (session) => {
  count('connections to etcd');
  session.on('error', () => {});
});
etcd.on('stream', (stream, headers) => {
  stream.on('error', () => {});
  stream.resume();
  answer(stream, headers[':path'] ?? '');
});

const agent = createServer((request, response) => {
  count('GET /status');
  const member = byAddress.get(request.socket.localAddress ?? '');
  response.writeHead(member ? 200 : 404, { 'content-type': 'application/json' });
  response.end(JSON.stringify(member ? statusOf(member) : {}));
});
// A client without kept connections opens a new one for each request.
agent.on('connection', () => count('connections to the agents'));

const dns = createSocket('udp4', (query, from) => {
  count('DNS');
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const question = query.subarray(12, at + 5);
  const found = byName.get(labels.join('.').toLowerCase());
  const head = Buffer.from([query[0]!, query[1]!, 0x85, found ? 0x80 : 0x83, 0, 1, 0, found ? 1 : 0, 0, 0, 0, 0]);
  const octets = found?.address.split('.').map(Number) ?? [];
  const address = found ? Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, ...octets]) : Buffer.alloc(0);
  dns.send(Buffer.concat([head, question, address]), from.port, from.address);
});

process.on('message', ({ members }: { members?: readonly Member[] }) => {
  for (const member of members ?? []) {
    byAddress.set(member.address, member);
    byName.set(nameOf(member, member.ordinal), member);
  }
  process.send!(asked);
  asked = {};
});
process.on('disconnect', () => process.exit());

// Every address of the loopback is a pod's.
etcd.listen(ports.client, '0.0.0.0');
agent.listen(ports.agent, '0.0.0.0', 4096);
// Without the right to use that port, names do not resolve; an idle cluster does not need them.
dns.on('error', () => {});
dns.bind(Number(dnsPort), dnsAddress);
