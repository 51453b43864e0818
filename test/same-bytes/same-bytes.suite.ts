// The resource is the cluster: what a construct makes, `render` makes of its resource alone, byte for byte.
import { Yaml } from 'cdk8s';
import { parse } from 'yaml';
import { manifestsOf } from '../../src/cluster/manifests/cluster-manifests';
import { madeFrom } from '../../src/cluster/manifests/made-from';
import { InputError } from '../../src/render/report';
import { resourceProblems } from '../../src/resource/resource-problems';
import type { Manifest } from '../synth';
import { collected, constructed, documents, rendered, resourceIn, valid } from './drawn';
import { drawnAlone, drawnCluster } from './props';
import { drawnSpec } from './specs';

test('what a construct makes of its properties', () => {
  for (const yaml of collected(drawnCluster, (drawn) => constructed(drawn, 'shop'))) {
    expect(rendered(resourceIn(yaml))).toBe(yaml);
  }
});

test.each(Object.entries(drawnAlone))('%s', (_, drawn) => {
  const all = collected(drawn, (make) => valid('backups', make));
  for (const { yaml, made } of all) expect(rendered(made.resourceYaml())).toBe(yaml);
});

const resourceOf = (spec: object): Manifest => ({
  apiVersion: 'cdk8s-etcd.dev/v1alpha1',
  kind: 'EtcdCluster',
  metadata: { name: 'orders', namespace: 'shop' },
  spec,
});

/** What render refuses beside the schema is refused here, too. */
function renderedSpec(spec: object): [spec: object, yaml: string] | undefined {
  if (resourceProblems('EtcdCluster', spec, { name: 'orders' }).length > 0) return undefined;
  try {
    return [spec, rendered(Yaml.stringify(resourceOf(spec)))];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return undefined;
  }
}

test('what render makes of a spec', () => {
  for (const [spec, yaml] of collected(drawnSpec, renderedSpec)) {
    expect(rendered(resourceIn(yaml))).toBe(yaml);
    // Without cdk8s the objects are the same.
    const metadata = { name: 'orders', namespace: 'shop' };
    // Overrides are printed as the API server can store them.
    const source = madeFrom(parse(resourceIn(yaml)).spec);
    const own = [...manifestsOf({ metadata, spec: spec as never, madeFrom: source }).values()].filter(
      ({ kind }) => kind !== 'EtcdCluster',
    );
    const objects: Manifest[] = documents(yaml).map((text) => parse(text));
    for (const manifest of own) {
      const same = objects.find(
        ({ kind, metadata: { name } }) => kind === manifest.kind && name === manifest.metadata.name,
      );
      expect(plain({ ...manifest, metadata: { ...manifest.metadata, namespace: 'shop' } })).toEqual(plain(same));
    }
    expect(objects.filter(({ kind }) => kind !== 'EtcdCluster')).toHaveLength(own.length);
  }
});

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
