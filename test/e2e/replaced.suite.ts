// Whoever replaces objects instead of applying them takes away what the reconciler wrote: `kubectl replace`, and Argo CD's Replace=true.
import { parseAllDocuments } from 'yaml';
import { blocks } from '../guides';
import type { Manifest } from '../synth';
import { kubectl } from './support/kubectl';
import { slowTest } from './support/settings';
import { Play } from './watch/play';

/** What the guide gives a cluster administrator. */
const policy = blocks('yaml').find(({ code }) => code.includes('kind: ValidatingAdmissionPolicy\n'))!.code;

let play: Play;
beforeAll(async () => {
  play = await Play.begin('replaced', { users: true });
});
afterAll(async () => {
  await kubectl(['delete', '--ignore-not-found', '-f', '-'], policy);
  await play?.end();
});

const objects = async (): Promise<Manifest[]> =>
  parseAllDocuments(await play.cluster.manifests()).map((document) => document.toJS());

const replace = async (is: (object: Manifest) => boolean, ...flags: string[]) => {
  const items = (await objects()).filter(is);
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  return play.namespace.kubectl(['replace', ...flags, '-f', '-'], list);
};

const scale = () => play.namespace.kubectl(['scale', 'statefulset', 'orders', '--replicas=1']);

const root = async (name: string): Promise<string | undefined> =>
  (await play.namespace.get('secret', name)).data?.['ca.crt'];

slowTest('a StatefulSet that is scaled to one: the reconciler scales it back', async () => {
  await play.converges('scaled to 1', 3, scale);
});

slowTest('a StatefulSet that is replaced: the reconciler scales it back', async () => {
  await play.converges('StatefulSet replaced', 3, () => replace(({ kind }) => kind === 'StatefulSet'));
});

slowTest('Secrets that are replaced have the same authorities again', async () => {
  const before = await root('orders-client-tls');
  await play.converges('Secrets replaced', 3, () => replace(({ kind }) => kind === 'Secret'));
  await play.namespace.until('the same root', 60, async () =>
    (await root('orders-client-tls')) === before ? true : undefined,
  );
});

slowTest(
  'Secrets that are replaced while no reconciler runs: the members serve on, and the status names the way back',
  async () => {
    const authorities = ['orders-peer-ca', 'orders-client-ca'];
    const before = await root('orders-client-tls');
    const copies = await Promise.all(authorities.map((name) => play.namespace.get('secret', name)));
    const reconcilers = async (count: number) => {
      await play.namespace.kubectl(['scale', 'deployment', 'etcd-reconciler', `--replicas=${count}`]);
      await play.namespace.until(`${count} reconcilers`, 120, async () => {
        const { items } = await play.namespace.get('pods', '--selector=app.kubernetes.io/name=etcd-reconciler');
        return items.length === count ? true : undefined;
      });
    };
    await play.unnoticed('Secrets replaced without a reconciler', 3, async () => {
      await reconcilers(0);
      await replace(({ kind }) => kind === 'Secret');
      await reconcilers(1);
      await play.namespace.until('AuthorityLost', 120, async () => {
        const { reason, message } = (await play.cluster.condition('CertificatesReady')) ?? {};
        return reason === 'AuthorityLost' && authorities.every((name) => message.includes(name)) ? true : undefined;
      });
      for (const { metadata, ...copy } of copies) {
        const { resourceVersion: _, ...others } = metadata;
        await play.namespace.kubectl(['replace', '-f', '-'], JSON.stringify({ ...copy, metadata: others }));
      }
      await play.namespace.until('certificates again', 120, async () => {
        const { status } = (await play.cluster.condition('CertificatesReady')) ?? {};
        return status === 'True' && (await root('orders-client-tls')) === before ? true : undefined;
      });
    });
  },
);

slowTest('everything is replaced, with the policy of the guide: no member stops', async () => {
  await kubectl(['apply', '-f', '-'], policy);
  await play.namespace.until('the policy is enforced', 60, async () =>
    play.namespace.kubectl(['scale', 'statefulset', 'orders', '--replicas=2', '--dry-run=server']).then(
      () => undefined,
      () => true,
    ),
  );
  await play.unnoticed('refused', 3, async () => {
    await expect(scale()).rejects.toThrow(/only the reconciler lowers the number of members/);
    await expect(replace(({ kind }) => kind !== 'Namespace')).rejects.toThrow(
      /only the reconciler lowers the number of members/,
    );
  });
});

slowTest('with the policy the reconciler shrinks a cluster', async () => {
  await play.converges('to 5', 5, () => play.cluster.apply({ size: 5 }));
  await play.converges('to 3', 3, () => play.cluster.apply({ size: 3 }));
});

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
