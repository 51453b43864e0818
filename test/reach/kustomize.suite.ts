import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Chart } from 'cdk8s';
import { parseAllDocuments, stringify } from 'yaml';
import { EtcdCrds, EtcdReconciler } from '../../src';
import type { Manifest } from '../synth';

const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-kustomize-'));
cpSync('dist', join(directory, 'dist'), { recursive: true });
afterAll(() => rmSync(directory, { recursive: true }));

/** What the real Kustomize makes of a kustomization beside dist/. */
function built(kustomization: object): Map<string, Manifest> {
  writeFileSync(join(directory, 'kustomization.yaml'), stringify({ resources: ['dist'], ...kustomization }));
  return byName(
    parseAllDocuments(
      execFileSync(process.env.KUSTOMIZE ?? 'kustomize', ['build', directory], { encoding: 'utf8' }),
    ).map((each) => each.toJS()),
  );
}

const byName = (manifests: readonly Manifest[]): Map<string, Manifest> =>
  new Map(manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest]));

/** The same of the constructs. */
function made({ monitoring = false, namespace }: { monitoring?: boolean; namespace?: string }): Map<string, Manifest> {
  const app = new App();
  const chart = new Chart(app, 'all', { namespace });
  new EtcdCrds(chart, 'crds');
  const reconciler = new EtcdReconciler(chart, 'reconciler');
  if (monitoring) reconciler.addMonitoring();
  return byName(chart.toJson());
}

test('the base is the custom resources and the reconciler', () => {
  expect(built({})).toEqual(made({}));
});

test('in a namespace, all but what has none is in it, and the account of the RoleBinding too', () => {
  const all = built({ namespace: 'etcd' });
  const binding = all.get('RoleBinding etcd-reconciler')!;
  expect(binding.subjects).toEqual([{ kind: 'ServiceAccount', name: 'etcd-reconciler', namespace: 'etcd' }]);
  for (const { kind, metadata } of all.values())
    expect(metadata.namespace).toBe(kind === 'CustomResourceDefinition' ? undefined : 'etcd');
});

test('with the component it is what addMonitoring makes', () => {
  const all = built({ components: ['dist/components/monitoring'] });
  expect(all).toEqual(made({ monitoring: true }));
  expect(all.size).toBeGreaterThan(made({}).size);
});

test('an image of a mirror is set as Kustomize sets images', () => {
  const images = [{ name: 'ghcr.io/cdk8s-etcd/agent', newName: 'registry.example.com/agent', newTag: '1' }];
  const deployment = built({ images }).get('Deployment etcd-reconciler')!;
  expect(deployment.spec.template.spec.containers[0].image).toBe('registry.example.com/agent:1');
});
