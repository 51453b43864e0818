// A kubeadm control plane of one node loses etcd's data, under an ordinary load.

import { controlPlaneNodes } from '../e2e/support/node-driver';
import { slowTest } from '../e2e/support/settings';
import { Backups, tidy } from './backups';
import { Informer } from './informer';
import { killed, loseDisk, nextBump, overLostDisk, untilDead } from './lost-disk';
import { onNode } from './nodes';
import { type Procedure, type Round, succeeds } from './plan';
import { copyStaticPod, printPlan, removeStaticPod } from './restore';
import { onPlanes } from './settings';
import { withStoreOnly } from './store-only';
import { StoreServer } from './store-server';
import { expectTakenBack } from './taken-back';
import { timed } from './timed';
import { until, Workload } from './workload';

onPlanes(1)('a control plane of one node', () => {
  let node: string;
  let server: StoreServer;
  let backups: Backups;
  let workload: Workload;
  let informer: Informer;
  beforeAll(async () => {
    [node] = (await controlPlaneNodes()) as [string];
    server = await StoreServer.start('s3');
    backups = await Backups.apply(server);
    await backups.prepare(node);
    workload = await Workload.create();
    informer = await Informer.open(workload.namespace);
  });
  afterAll(async () => {
    informer?.[Symbol.dispose]();
    await workload?.delete();
    await backups?.delete();
    await server?.stop();
    if (node) await tidy(node);
  });

  let id: string;
  let procedure: Procedure;

  test('is restored with what the plan printed, and reaches nothing but the store meanwhile', async () => {
    id = await backups.run('first');
    await workload.goOn();
    await until('the informer to see it', async () => informer.seen?.after === 'two');
    const ordinary = await workload.running('ordinary');
    await loseDisk(node);
    await untilDead();

    procedure = await withStoreOnly([node], server, async () => {
      const plan = await timed('the plan of one node', () =>
        printPlan(node, backups.restorePod, ...overLostDisk.flags),
      );
      expect(plan.rounds).toHaveLength(3);
      const [output] = await timed('one node restored', () => plan.follow(plan.rounds[0]!));
      // Its phases and waits, with their times.
      process.stdout.write(output!.stderr);
      return plan;
    });
    const [, kubelet, verify] = procedure.rounds as [Round, Round, Round];
    await procedure.follow(kubelet);
    await timed('all well on one node', () => until('all to be well', () => succeeds(procedure.follow(verify))));
    await timed('everybody sees it', () => expectTakenBack(workload, informer, ordinary));
  });

  test('done again, it says that nothing is to be done, and it cannot be undone', async () => {
    const again = await procedure.follow(procedure.rounds[0]!);
    expect(again[0]!.stdout).toMatch(/was already restored from \S+; nothing done/);
    await expect(procedure.type(node, 'etcd-agent restore control-plane --undo')).rejects.toThrow(
      /ended with 40:.*has served/s,
    );
    expect(await workload.configMaps()).toMatchObject({ before: 'one' });
  });

  slowTest('stopped and undone, it is as it was', async () => {
    await workload.goOn();
    const before = await workload.configMaps();
    const restore = procedure.command(node, `restore control-plane ${id}`);
    await procedure.type(node, `${restore} --bump-revision=${nextBump()} --stop`);
    await untilDead();
    await timed('undone', () => procedure.type(node, 'etcd-agent restore control-plane --undo'));
    await until('the API server', async () => (await workload.configMaps()).after === 'two');
    expect(await workload.configMaps()).toEqual(before);
    await workload.begin();
  });

  slowTest(
    'is restored by the static Pod, although the kubelet begins a new etcd over the empty directory',
    async () => {
      id = await backups.run('second');
      await workload.goOn();
      await until('the informer to see it', async () => informer.seen?.after === 'two');
      const ordinary = await workload.running('ordinary');
      await onNode(node, 'kill -STOP $(pidof kubelet)', 'rm -rf /var/lib/etcd/*', killed);
      await untilDead();

      await withStoreOnly([node], server, () =>
        timed('one node restored by the static Pod', async () => {
          // The new etcd has the cluster id that kubeadm's flags give, as before the first restore ever. This store may know nothing of that.
          const running = copyStaticPod(node, id, 'forceForeign: true');
          await onNode(node, 'kill -CONT $(pidof kubelet)');
          await running;
        }),
      );
      await removeStaticPod(node);
      const [, kubelet, verify] = procedure.rounds as [Round, Round, Round];
      await procedure.follow(kubelet);
      await until('all to be well', () => succeeds(procedure.follow(verify)));
      await expectTakenBack(workload, informer, ordinary);
    },
  );
});
