// Backups through the members' agents, with etcd's authentication on and off. Nobody has root's certificate but the agents.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { GrpcChannel, GrpcStatus } from '../../src/etcd/grpc.ts';
import { encodeBytes, encodeInt } from '../../src/etcd/protobuf.ts';
import { loadTls } from '../../src/etcd/tls.ts';
import { BackupPort } from '../../src/member/sidecar/backup-port/backup-port.ts';
import { type AgentResult, runAgent } from '../harness/agent.ts';
import { type Certificates, createCertificates, type KeyPair, mountPair } from '../harness/certificates.ts';
import { enableCertificateAuth } from '../harness/etcd-auth.ts';
import { availableMinors, etcdOf, type Minor, missingMinors } from '../harness/etcd-binaries.ts';
import { EtcdClient } from '../harness/etcd-client.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { freePorts } from '../harness/free-ports.ts';

const silent = pino({ level: 'silent' });

let root: string;
let certificates: Certificates;
beforeAll(async () => {
  for (const minor of missingMinors()) console.warn(`etcd ${minor} is not at hand: untested`);
  root = await mkdtemp(join(tmpdir(), 'backup-port-'));
  certificates = await createCertificates(join(root, 'certificates'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const mount = (name: string, pair: KeyPair) => mountPair(join(root, name), certificates.ca, pair);

/** Three members whose URLs for clients lead nowhere, so that only their backup ports can be used. */
class World implements AsyncDisposable {
  readonly cluster: EtcdCluster;
  readonly ports: readonly BackupPort[];
  /** With root's certificate, directly. */
  readonly rootClient: EtcdClient;
  readonly #store: string;

  private constructor(cluster: EtcdCluster, ports: BackupPort[], rootClient: EtcdClient, store: string) {
    this.cluster = cluster;
    this.ports = ports;
    this.rootClient = rootClient;
    this.#store = store;
  }

  static async start(minor: Minor): Promise<World> {
    const [nowhere, backup] = await freePorts(2);
    let members = 0;
    const advertise = () => `https://127.0.0.${++members}:${nowhere}`;
    const cluster = await EtcdCluster.start({ minor, size: 3, tls: certificates, advertise });
    const rootPair = await certificates.clientNamed('root');
    const [serverTlsDir, rootTlsDir] = [await mount('server', certificates.server), await mount('root', rootPair)];
    const listening = cluster.members.map((member, i) => {
      const listen = { host: `127.0.0.${i + 1}`, port: backup! };
      const config = {
        ...{
          clientUrl: member.advertisedUrl,
          listenClientUrls: [member.clientUrl],
          dataDir: member.dataDir,
          serverTlsDir,
        },
        backup: { listen, user: 'orders-backup', rootTlsDir },
      };
      return BackupPort.listen(config, silent);
    });
    const urls = cluster.members.map(({ clientUrl }) => clientUrl);
    const rootClient = new EtcdClient(etcdOf(minor), urls, { ...certificates, client: rootPair });
    const store = join(root, `store-${minor}-${nowhere}`);
    return new World(cluster, await Promise.all(listening), rootClient, store);
  }

  get endpoints(): string[] {
    return this.ports.map(({ port }, i) => `https://127.0.0.${i + 1}:${port}`);
  }

  async agent(command: string, pair: KeyPair, ...flags: string[]): Promise<AgentResult> {
    const tls = [`--cacert=${certificates.ca}`, `--cert=${pair.cert}`, `--key=${pair.key}`];
    const to = [`--store=file://${this.#store}`, '--cluster=orders', '--output=json'];
    return runAgent([command, ...to, ...(command === 'verify' ? [] : tls), ...flags]);
  }

  backup(pair: KeyPair, endpoints: readonly string[] = this.endpoints): Promise<AgentResult> {
    return this.agent('backup', pair, `--endpoints=${endpoints}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.ports.map((port) => port.close()));
    await this.cluster.stop();
  }
}

/** The code that a call ends with. */
async function codeOf(channel: GrpcChannel, method: string, request: Uint8Array): Promise<number> {
  try {
    await channel.unary(method, request);
    return 0;
  } catch (error) {
    const { cause } = error as Error;
    if (cause instanceof GrpcStatus) return cause.code;
    throw error;
  }
}

/** HashKV of every voter was compared. */
const agree = expect.stringMatching(/^2 other members agree at revision \d+$/);

const key = (text: string) => encodeBytes(1, text);
const everything = Buffer.concat([key('\0'), encodeBytes(2, '\0')]);
/** Calls with requests that would work, and what they are for. */
const others: readonly (readonly [method: string, request: Uint8Array])[] = [
  ['KV/Range', key('secret')],
  ['KV/Range', everything],
  ['KV/Range', Buffer.concat([everything, encodeInt(9, 1)])],
  ['KV/Range', Buffer.concat([key('secret'), encodeInt(9, 1)])],
  ['KV/Range', key('health')],
  ['KV/Range', Buffer.concat([key('health'), encodeBytes(2, '\0'), encodeInt(9, 1)])],
  ['KV/Put', Buffer.concat([key('secret'), encodeBytes(2, 'changed')])],
  ['KV/DeleteRange', everything],
  ['KV/Txn', new Uint8Array()],
  ['KV/Compact', encodeInt(1, 2)],
  ['Watch/Watch', encodeBytes(1, everything)],
  ['Lease/LeaseGrant', encodeInt(1, 60)],
  ['Lease/LeaseLeases', new Uint8Array()],
  ['Cluster/MemberAdd', encodeBytes(1, 'http://127.0.0.9:1')],
  ['Cluster/MemberRemove', encodeInt(1, 1)],
  ['Cluster/MemberUpdate', encodeInt(1, 1)],
  ['Cluster/MemberPromote', encodeInt(1, 1)],
  ['Maintenance/Alarm', Buffer.concat([encodeInt(1, 1), encodeInt(3, 1)])],
  ['Maintenance/Alarm', Buffer.concat([encodeInt(1, 2), encodeInt(3, 1)])],
  ['Maintenance/Defragment', new Uint8Array()],
  ['Maintenance/Hash', new Uint8Array()],
  ['Maintenance/MoveLeader', encodeInt(1, 1)],
  ['Maintenance/Downgrade', Buffer.concat([encodeInt(1, 1), encodeBytes(2, '3.5.0')])],
  ...['AuthEnable', 'AuthDisable', 'AuthStatus', 'UserList', 'RoleList'].map(
    (name) => [`Auth/${name}`, new Uint8Array()] as const,
  ),
  ['Auth/UserAdd', encodeBytes(1, 'mallory')],
  ['Auth/UserDelete', encodeBytes(1, 'api')],
  ['Auth/UserGet', encodeBytes(1, 'root')],
  ['Auth/UserGrantRole', Buffer.concat([encodeBytes(1, 'api'), encodeBytes(2, 'root')])],
  ['Auth/UserChangePassword', encodeBytes(1, 'root')],
  ['Auth/Authenticate', encodeBytes(1, 'root')],
  ['Auth/RoleGet', encodeBytes(1, 'root')],
];

describe.each(availableMinors())('etcd %s', (minor) => {
  test('authentication on: refused at the port for clients, and good through the agents', async () => {
    const backupPair = await certificates.clientNamed('orders-backup');
    await using world = await World.start(minor);
    const { cluster, rootClient } = world;
    const urls = cluster.members.map(({ clientUrl }) => clientUrl);
    await rootClient.put(50, { prefix: '/api/' });
    const before = await world.backup(backupPair);
    expect([before.code, before.result.comparison]).toEqual([0, agree]);
    await enableCertificateAuth(rootClient, { api: '/api/', client: '/client/' });

    const direct = await world.backup(backupPair, urls);
    expect([direct.code, direct.result.error]).toEqual([2, expect.stringContaining('permission denied')]);
    const through = await world.backup(backupPair);
    expect([through.code, through.result.comparison]).toEqual([0, agree]);
    // One endpoint is enough: its member list leads to the other backup ports.
    const [first] = world.endpoints;
    const one = await world.backup(backupPair, [first!]);
    expect([one.code, one.result.comparison]).toEqual([0, agree]);
    const verified = await world.agent('verify', backupPair, '--level=open');
    expect(verified.code).toBe(0);

    await cluster.member(2).kill();
    const two = await world.backup(backupPair);
    expect([two.code, two.result.comparison]).toEqual([0, expect.stringMatching(/^1 of 2 other members agrees /)]);
    await cluster.member(1).kill();
    const alone = await world.backup(backupPair);
    expect([alone.code, alone.result.error]).toEqual([10, expect.stringMatching(/quorum|leader/)]);
  });

  test('nothing else gets through, and nobody else', async () => {
    const backupPair = await certificates.clientNamed('orders-backup');
    await using world = await World.start(minor);
    const { rootClient } = world;
    const apiPair = await certificates.clientNamed('api');
    const rootPair = await certificates.clientNamed('root');
    for (const name of ['secret', 'health']) await rootClient.etcdctl('put', name, 'kept');
    await enableCertificateAuth(rootClient, { api: '/api/' });
    const reads = [['get', '', '--prefix'], ...['member', 'alarm', 'user', 'role'].map((what) => [what, 'list'])];
    const state = () => Promise.all(reads.map((read) => rootClient.etcdctl(...read)));
    const before = await state();
    const [endpoint] = world.endpoints;
    const dial = async ({ cert, key: file }: KeyPair) =>
      GrpcChannel.connect(endpoint!, {
        dialTimeout: 5_000,
        tls: (await loadTls({ cacert: certificates.ca, cert, key: file }))!,
      });
    const channel = await dial(backupPair);
    for (const [method, request] of others)
      expect([method, await codeOf(channel, method, request)]).toEqual([method, 7]);
    const health = Buffer.concat([key('health'), encodeInt(9, 1)]);
    expect(Buffer.from(await channel.unary('KV/Range', health)).toString('latin1')).not.toContain('kept');
    channel.close();
    const allowed = [
      ...['Maintenance/Status', 'Maintenance/HashKV', 'Maintenance/Snapshot', 'Maintenance/Alarm'],
      'Cluster/MemberList',
    ];
    const calls = allowed.map((method) => [method, new Uint8Array()] as const);
    for (const pair of [apiPair, rootPair, certificates.client, certificates.server]) {
      for (const [method, request] of [...calls, ['KV/Range', health] as const]) {
        // A connection ends at its first refusal.
        const other = await dial(pair);
        expect(await codeOf(other, method, request)).toBe(7);
        other.close();
      }
    }
    for (const pair of [certificates.otherClient]) await expect(dial(pair)).rejects.toThrow();
    await expect(
      GrpcChannel.connect(endpoint!, { dialTimeout: 5_000, tls: (await loadTls({ cacert: certificates.ca }))! }),
    ).rejects.toThrow();
    expect(await state()).toEqual(before);
  });
});
