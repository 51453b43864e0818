import { App, Chart, Size } from 'cdk8s';
import { EtcdCluster, EtcdReconciler, EtcdTls, EtcdVersion, ImagePullPolicy } from '../../src';
import type { Manifest } from '../synth';
import { Namespace } from './support/namespace';
import { agentImage, slowTest } from './support/settings';
import { applyCrds, tell } from './watch/play';

const names = Array.from({ length: 10 }, (_, index) => `c${index}`);
/** Its certificates do not exist. */
const broken = 'c4';
const imagePullPolicy = ImagePullPolicy.IF_NOT_PRESENT;

let namespace: Namespace;
beforeAll(async () => {
  await applyCrds();
  namespace = await Namespace.create('many');
});
afterAll(() => namespace?.delete());

function manifests(): string {
  const app = new App();
  const chart = new Chart(app, 'many', { namespace: namespace.name });
  const reconciler = new EtcdReconciler(chart, 'reconciler', { image: agentImage, imagePullPolicy });
  const tls = EtcdTls.fromSecrets({ peer: 'not-there', server: 'not-there', client: 'not-there' });
  for (const name of names) {
    new EtcdCluster(chart, name, {
      ...{ name, reconciler, agentImage, imagePullPolicy, size: 1 },
      ...{ version: EtcdVersion.of('3.6.16'), volume: { size: Size.gibibytes(2) } },
      ...(name === broken && { tls }),
    });
  }
  return app.synthYaml();
}

/** Waits until all but the broken one have formed. Returns the time of each. */
async function formed(): Promise<Map<string, number>> {
  const begun = Date.now();
  const at = new Map<string, number>();
  await namespace.kubectl(['apply', '--server-side', '-f', '-'], manifests());
  await namespace.until('nine clusters', 480, async () => {
    const { items } = await namespace.get('etcdclusters');
    for (const { metadata, spec, status } of items as Manifest[]) {
      const ready = status?.conditions?.find(({ type }: Manifest) => type === 'Ready')?.status === 'True';
      const whole = ready && status.voters === spec.size && status.observedGeneration === metadata.generation;
      if (whole && !at.has(metadata.name)) at.set(metadata.name, (Date.now() - begun) / 1000);
    }
    return at.size >= names.length - 1 ? at : undefined;
  });
  return at;
}

const spread = (at: ReadonlyMap<string, number>): string => {
  const all = [...at.values()].sort((a, b) => a - b);
  return `the first ${all[0]?.toFixed(1)} s, the last ${all.at(-1)?.toFixed(1)} s`;
};

slowTest('ten clusters at once under one reconciler: nine form, and the one that cannot delays nobody', async () => {
  const at = await formed();
  tell(`many: nine of ten clusters of one formed, ${spread(at)}`);
  expect([...at.keys()].sort()).toEqual(names.filter((name) => name !== broken));
  const { status } = await namespace.get('etcdcluster', broken);
  expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'False' }));
});
