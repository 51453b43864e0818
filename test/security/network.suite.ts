import { NetworkAccess, type NetworkEgress } from '../../src';
import { Namespace } from '../e2e/support/namespace';
import { addNightly, backUp } from '../e2e/support/orders-backups';
import { restored } from '../e2e/support/restored';
import { S3 } from '../e2e/support/s3';
import { slowTest } from '../e2e/support/settings';
import { Play, tell } from '../e2e/watch/play';
import { Recording } from '../e2e/watch/recording';
import { apiServers, denyAll, free } from './policies';
import { addressOf, get, reached, resolves, startPod, type Targets } from './reach';

// A namespace that denies everything, with only the library's policies. Pods that may open any connection try the
// connections that these do not allow.

/** Set by scripts/suites/security.mjs: whether the network plugin enforces NetworkPolicies. */
const enforced = process.env.POLICIES === 'enforced';
const policyTest = enforced ? test : test.skip;

const client = { 'example.com/etcd-client': 'true' };
const stranger = { app: 'stranger' };
const ports = { client: 2379, peer: 2380, metrics: 2381, backup: 2382, agent: 8080 };

let play: Play;
let recording: Recording;
let s3: S3;
let storage: Namespace;
let monitoring: Namespace;
let snapshot: string;

beforeAll(async () => {
  storage = await Namespace.create('storage');
  monitoring = await Namespace.create('monitoring');
  const inside = await S3.start(storage);
  await startPod(monitoring, 'scraper', { app: 'scraper' });
  await startPod(monitoring, 'neighbor', stranger);
  const s3Pods = { namespace: storage.name, podLabels: { app: 's3' }, ports: [7070] };
  const egress: NetworkEgress = { apiServer: await apiServers(), stores: [s3Pods] };
  const metricsAccess = NetworkAccess.peers({ namespace: monitoring.name, podLabels: { app: 'scraper' } });
  play = await Play.begin('network', {
    tls: true,
    prepare: async (namespace) => {
      s3 = await inside.from(namespace);
      await namespace.apply([denyAll, free('client', client), free('stranger', stranger)]);
      recording = await Recording.begin(namespace);
    },
    props: { egress, metricsAccess, networkAccess: NetworkAccess.peers({ podLabels: client }) },
    reconciler: { egress, metricsAccess },
    clientLabels: client,
    shape: ({ cluster }) => addNightly(cluster, s3.store()),
  });
  await startPod(play.namespace, 'stranger', stranger);
  // The labels of a backup, by which the policies know it.
  await startPod(play.namespace, 'job', {
    'app.kubernetes.io/name': 'etcd-backup',
    'app.kubernetes.io/part-of': 'orders',
  });
});
afterAll(async () => {
  await recording?.end();
  await Promise.all([play?.end(), storage?.delete(), monitoring?.delete()]);
});

const at = (pod: string, container?: string) => ({ namespace: play.namespace, pod, ...(container && { container }) });
const scraper = () => ({ namespace: monitoring, pod: 'scraper' });
const member = (ordinal: number) => addressOf(play.namespace, play.cluster.pod(ordinal));

async function reconciler(): Promise<string> {
  const { items } = await play.namespace.get('pods', '--selector=app.kubernetes.io/name=etcd-reconciler');
  return items[0].metadata.name;
}

/** Everything that listens in the namespace. */
async function all(): Promise<Targets> {
  const address = await member(1);
  return {
    ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [`member ${name}`, [address, port] as const])),
    reconciler: [await addressOf(play.namespace, await reconciler()), ports.agent],
    job: [await addressOf(play.namespace, 'job'), ports.agent],
  };
}

/** Targets outside the cluster, in addition to those inside. */
async function everything(): Promise<Targets> {
  const [{ cidr = '', ports: numbers = [] } = {}] = await apiServers();
  return {
    ...(await all()),
    apiServer: [cidr.replace(/\/\d+$/, ''), numbers[0]!],
    store: [await addressOf(storage, 's3-0'), 7070],
    stranger: [await addressOf(play.namespace, 'stranger'), 8080],
    elsewhere: [await addressOf(monitoring, 'neighbor'), 8080],
  };
}

test('a backup of its schedule is stored and verified', async () => {
  await play.writesOn();
  snapshot = await backUp(play.namespace, 'orders', 'monday');
  expect(await s3.files()).toContainEqual(expect.stringContaining(`${snapshot}.json`));
});

slowTest('a member that lost its volume is replaced', async () => {
  const before = await play.cluster.memberId(2);
  await play.converges('a volume lost', 3, async () => {
    await play.cluster.loseVolumes(2);
    await play.cluster.replaced(2, before);
  });
});

test('a restore in place; its Job is reached by the member that restores, and by no stranger', async () => {
  let seen: string[] | undefined;
  await play.converges('restored in place', 3, async () => {
    const status = await restored(play, s3, {
      name: 'good',
      snapshot,
      meanwhile: async () => {
        const [pod] = await play.namespace.until('the Job serves', 120, async () => {
          const { items } = await play.namespace.get('pods', '--selector=job-name=orders-restore');
          return items[0]?.status.podIP && items[0].status.phase === 'Running' ? items : undefined;
        });
        const job = { job: [pod.status.podIP, ports.agent] } as const;
        await play.givesUp();
        seen = await reached(at('stranger'), job);
      },
    });
    expect(status).toMatchObject({ phase: 'Completed', snapshotId: snapshot });
  });
  if (enforced) expect(seen).toEqual([]);
});

test('the scraper reads the metrics of etcd, of the agent and of the reconciler', async () => {
  const address = await member(0);
  expect(await get(scraper(), `http://${address}:2381/metrics`)).toMatch(/^etcd_server_has_leader 1$/m);
  expect(await get(scraper(), `https://${address}:8080/metrics`)).toMatch(/^etcd_agent_etcd_up 1$/m);
  const { reconciler: target } = await all();
  expect(await get(scraper(), `http://${target![0]}:8080/metrics`)).toMatch(/^etcd_reconciler_/m);
});

test('a pod with the label of clients reaches the clients’ port', async () => {
  await startPod(play.namespace, 'another-client', client);
  expect(await reached(at('another-client'), await all())).toEqual(
    enforced ? ['member client'] : expect.arrayContaining(['member client']),
  );
});

policyTest('a pod without it reaches nothing, from this namespace or from another', async () => {
  const targets = await all();
  expect(await reached(at('stranger'), targets)).toEqual([]);
  expect(await reached({ namespace: monitoring, pod: 'neighbor' }, targets)).toEqual([]);
  // It could connect if the policies allowed it.
  expect(await reached(at('stranger'), { elsewhere: [await addressOf(monitoring, 'neighbor'), 8080] })).toEqual([
    'elsewhere',
  ]);
});

policyTest('the scraper reaches no port of clients or peers', async () => {
  expect(await reached(scraper(), await all())).toEqual(['member metrics', 'member agent', 'reconciler']);
});

policyTest('a member opens connections to its peers, the Jobs, DNS and the API server alone', async () => {
  const here = at(play.cluster.pod(0), 'agent');
  const expected = ['member client', 'member peer', 'member agent', 'job', 'apiServer'];
  expect(await reached(here, await everything())).toEqual(expected);
  expect(await resolves(here, 'kubernetes.default.svc.cluster.local')).toBe(true);
});

policyTest('a backup opens connections to the members, DNS and the store alone', async () => {
  const expected = ['member client', 'member backup', 'member agent', 'job', 'store'];
  expect(await reached(at('job'), await everything())).toEqual(expected);
  expect(await resolves(at('job'), 'kubernetes.default.svc.cluster.local')).toBe(true);
});

policyTest('the reconciler opens connections to the members, the Jobs, DNS and the API server alone', async () => {
  const here = at(await reconciler(), 'reconciler');
  const expected = ['member client', 'member agent', 'reconciler', 'job', 'apiServer'];
  expect(await reached(here, await everything())).toEqual(expected);
  expect(await resolves(here, 'kubernetes.default.svc.cluster.local')).toBe(true);
});

test('nothing that was acknowledged is lost but to the restore, and each epoch is one cluster', () => play.ends(3));

test('no key, password or token is in an object other than a Secret, in a log or in a manifest', async () => {
  const store = await s3.documents();
  expect(store).toContain(snapshot);
  expect(await recording.leaks({ store })).toEqual([]);
  tell(`network: ${recording.size}, no leak`);
});
