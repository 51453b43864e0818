import { pino } from 'pino';
import { EtcdMember } from '../../../etcd/etcd-member.ts';
import { observeCluster } from './observe-cluster.ts';

const { connect } = EtcdMember;
afterEach(() => {
  EtcdMember.connect = connect;
});

const other = 'http://localhost:2379';
const listed = ['a', 'b', 'c'].map((id) => ({
  id,
  name: `m-${id}`,
  peerUrls: [],
  clientUrls: [other],
  isLearner: false,
}));
const closed: string[] = [];
/** An abstraction of connections: none breaks, and a member answers at once. */
const member = (endpoint: string, clusterId: string, memberId: string) =>
  ({
    endpoint,
    status: async () => ({ clusterId, memberId, isLearner: false }),
    members: async () => listed,
    alarms: async () => [],
    close: () => closed.push(endpoint),
  }) as unknown as EtcdMember;

test('an etcd of another cluster at an address that members advertise is no member, and is named', async () => {
  EtcdMember.connect = async (endpoint) =>
    endpoint === other ? member(other, 'c2', 'x') : member(endpoint, 'c1', 'b');
  const warnings: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => warnings.push(JSON.parse(line).msg) });
  const { members, voters } = await observeCluster({ endpoints: ['http://10.0.0.2:2379'], dialTimeout: 1_000 }, log);
  expect(members.map(({ endpoint }) => endpoint)).toEqual(['http://10.0.0.2:2379']);
  expect(voters).toBe(3);
  expect(closed).toEqual([other, other]);
  expect(warnings[0]).toMatch(
    /^member m-a advertises http:\/\/localhost:2379, where an etcd of another cluster \(c2\)/,
  );
});

test('endpoints that the user names are reported as they are', async () => {
  EtcdMember.connect = async (endpoint) => member(endpoint, endpoint === other ? 'c2' : 'c1', endpoint);
  const access = { endpoints: ['http://10.0.0.2:2379', other], dialTimeout: 1_000 };
  const { members } = await observeCluster(access, pino({ level: 'silent' }));
  expect(members.map(({ endpoint }) => endpoint)).toEqual(access.endpoints);
});
