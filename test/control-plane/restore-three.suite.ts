// A kubeadm control plane of three nodes, of which two lose etcd's data.
import { kubectl } from '../e2e/support/kubectl';
import { controlPlaneNodes } from '../e2e/support/node-driver';
import { slowTest } from '../e2e/support/settings';
import { Backups, tidy } from './backups';
import { hashes, revision, voters } from './etcdctl';
import { isServed, loseDisk, nextBump, overLostDisk, untilDead } from './lost-disk';
import { onNode } from './nodes';
import { type Procedure, type Round, succeeds } from './plan';
import { copyStaticPod, printPlan, removeStaticPod } from './restore';
import { onPlanes } from './settings';
import { withStoreOnly } from './store-only';
import { StoreServer } from './store-server';
import { timed } from './timed';
import { until } from './workload';

onPlanes(3)('a control plane of three nodes', () => {
  let nodes: string[];
  let server: StoreServer;
  let backups: Backups;
  beforeAll(async () => {
    nodes = await controlPlaneNodes();
    server = await StoreServer.start('s3');
    backups = await Backups.apply(server);
    for (const node of nodes) await backups.prepare(node);
  });
  afterAll(async () => {
    await backups?.delete();
    await server?.stop();
    for (const node of nodes ?? []) await tidy(node);
  });

  const onAll = <T>(work: (node: string) => Promise<T>): Promise<T[]> => Promise.all(nodes.map(work));
  const after = ['configmap', 'after', '--namespace=default'];

  /** What is made now is not in the snapshot. */
  async function goOnAndLoseTwo(): Promise<void> {
    await kubectl(['create', ...after]);
    await Promise.all(nodes.slice(0, 2).map(loseDisk));
    await untilDead();
  }

  async function expectOneCluster(): Promise<void> {
    const [node] = nodes as [string];
    await until('the API server', isServed);
    await until('three voters', async () => (await voters(node)).join() === nodes.join());
    await until('one cluster of equal members', async () => {
      const found = await hashes(node);
      return found.length === 3 && new Set(found).size === 1;
    });
    expect(await revision(node)).toBeGreaterThan(1_000_000_000);
    const { stdout } = await kubectl(['get', ...after, '--ignore-not-found', '-o', 'name']);
    expect(stdout).toBe('');
  }

  let id: string;
  let procedure: Procedure;

  test('is restored with what the plan printed, and reaches nothing but the store meanwhile', async () => {
    id = await backups.run('first');
    await goOnAndLoseTwo();

    procedure = await withStoreOnly(nodes, server, async () => {
      const plan = await timed('the plan of three nodes', () =>
        printPlan(nodes[0]!, backups.restorePod, ...overLostDisk.flags),
      );
      const [stop, restore] = plan.rounds as [Round, Round];
      expect([stop, restore].map((round) => round.map(({ node }) => node))).toEqual([nodes, nodes]);
      await timed('three nodes stopped', () => plan.follow(stop));
      await timed('three nodes restored', () => plan.follow(restore));
      return plan;
    });
    const [, , kubelet, verify] = procedure.rounds as [Round, Round, Round, Round];
    await procedure.follow(kubelet);
    await timed('all well on three nodes', () => until('all to be well', () => succeeds(procedure.follow(verify))));
    await expectOneCluster();
  });

  /** Begins again from the same snapshot, as another cluster. */
  const again = (node: string, bump: number): string =>
    `${procedure.command(node, `restore control-plane ${id}`).replace(/ --stop$/, '')} --bump-revision=${bump}`;

  const phases = ['make', 'stop', 'replace', 'others', 'start', 'api-server'];
  for (const phase of phases) {
    slowTest(`killed on one node at ${phase}, and run again there, it comes to the same end`, async () => {
      await kubectl(['create', ...after]);
      const bump = nextBump();
      const [first, ...others] = nodes as [string, string, string];
      const running = Promise.all(others.map((node) => procedure.type(node, again(node, bump))));
      const { stdout } = await procedure.type(first, ...killedAt(phase, again(first, bump)));
      expect(stdout).toMatch(new RegExp(`"phase":"${phase}".*ended with 137`, 's'));
      await timed(`run again after a kill at ${phase}`, () => procedure.type(first, again(first, bump)));
      await running;
      await expectOneCluster();
      await onAll((node) => onNode(node, 'rm -rf /var/lib/etcd/member.replaced-*'));
    });
  }

  slowTest('is restored by the static Pod, copied onto all nodes at once', async () => {
    id = await backups.run('second');
    await goOnAndLoseTwo();
    const bump = nextBump();
    await timed('three nodes restored by the static Pod', () =>
      withStoreOnly(nodes, server, () =>
        onAll((node) => copyStaticPod(node, id, ...overLostDisk.lines, `bumpRevision: ${bump}`)),
      ),
    );
    await onAll(removeStaticPod);
    await expectOneCluster();
  });
});

/** Kills the agent when it has told that a phase began. */
const killedAt = (phase: string, command: string): string[] => [
  'log=/run/control-plane-test.log',
  ': > $log',
  `${command} > $log 2>&1 &`,
  'run=$!',
  `until grep -q '"phase":"${phase}"' $log || ! kill -0 $run 2>/dev/null; do sleep 0.02; done`,
  // Not this shell, whose command line has the name too.
  `pkill -KILL -f 'bin/etcd-agent[.]mjs restore' || true`,
  'wait $run || echo "ended with $?" >> $log',
  'cat $log',
];
