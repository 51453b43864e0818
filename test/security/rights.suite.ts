import { kubectl } from '../e2e/support/kubectl';
import { MemberCluster } from '../e2e/support/member-cluster';
import { Namespace } from '../e2e/support/namespace';
import { newYear } from '../e2e/support/synthesis';
import { applyCrds } from '../e2e/watch/play';
import { guideRights, listedRights, rows } from '../rights';
import { s3 } from '../synth';

// The rights of each ServiceAccount in Kubernetes are those in docs/operations/security-model.md.

let namespace: Namespace;
beforeAll(async () => {
  await applyCrds();
  namespace = await Namespace.create('rights');
  const cluster = await MemberCluster.create(namespace, {
    tls: true,
    shape: ({ cluster }) => cluster.addBackupSchedule('nightly', { schedule: newYear, store: s3 }),
  });
  await cluster.apply();
  await namespace.kubectl(['create', 'serviceaccount', 'nobody']);
});
afterAll(() => namespace?.delete());

async function listed(account: string): Promise<readonly string[]> {
  const as = `--as=system:serviceaccount:${namespace.name}:${account}`;
  return listedRights((await kubectl(['auth', 'can-i', '--list', as, `--namespace=${namespace.name}`])).stdout);
}

test('each account may do what the guide says, and nothing else', async () => {
  // Rights that Kubernetes gives to every account.
  const everybody = new Set(await listed('nobody'));
  expect([...everybody]).toContain('create selfsubjectreviews.authentication.k8s.io *');
  const accounts = [...guideRights().keys()];
  expect(accounts).toContain('etcd-reconciler');
  for (const account of accounts) {
    const own = (await listed(account)).filter((right) => !everybody.has(right));
    expect([account, rows(own)]).toEqual([account, rows(guideRights().get(account)!)]);
  }
});

test('there is no account that the guide does not name', async () => {
  const { items } = await namespace.get('serviceaccounts');
  const names = items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  expect(names.filter((name: string) => name !== 'nobody').sort()).toEqual([...guideRights().keys()].sort());
});

test('no account may read a Secret of the namespace that is not its cluster’s, or anything of another namespace', async () => {
  for (const account of guideRights().keys()) {
    const may = async (...args: string[]) => {
      const as = `--as=system:serviceaccount:${namespace.name}:${account}`;
      return kubectl(['auth', 'can-i', ...args, as]).then(
        () => true,
        () => false,
      );
    };
    const here = `--namespace=${namespace.name}`;
    expect([account, await may('get', 'secrets/s3', here)]).toEqual([account, false]);
    expect([account, await may('list', 'secrets', here)]).toEqual([account, false]);
    expect([account, await may('list', 'pods', '--namespace=default')]).toEqual([account, false]);
    expect([account, await may('get', 'nodes')]).toEqual([account, false]);
  }
});
