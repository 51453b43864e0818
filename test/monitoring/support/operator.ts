// The Prometheus operator, a Prometheus and an Alertmanager, as users apply them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { container } from '../../e2e/support/manifests';
import { agentImage } from '../../e2e/support/settings';
import type { Manifest } from '../../synth';
import { imageOfMonitoring } from './settings';

const group = 'monitoring.coreos.com';
export const operator = 'prometheus-operator';
export const prometheus = 'prometheus';
export const alertmanager = 'alertmanager';

const security = {
  ...{ runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532 },
  seccompProfile: { type: 'RuntimeDefault' },
};

const rule = (apiGroups: string[], resources: string[], verbs: string[]) => ({ apiGroups, resources, verbs });
const read = ['get', 'list', 'watch'];

const rights: Readonly<Record<string, Manifest[]>> = {
  [operator]: [
    rule([group], ['*'], ['*']),
    rule(['apps'], ['statefulsets'], ['*']),
    rule([''], ['configmaps', 'secrets', 'services', 'services/finalizers', 'endpoints'], ['*']),
    rule([''], ['pods'], ['list', 'delete']),
    rule([''], ['events'], ['create', 'patch']),
    rule(['events.k8s.io'], ['events'], ['create', 'patch']),
    rule(['discovery.k8s.io'], ['endpointslices'], ['*']),
    rule([''], ['namespaces', 'nodes'], read),
    rule(['storage.k8s.io'], ['storageclasses'], ['get']),
  ],
  [prometheus]: [
    rule([''], ['services', 'endpoints', 'pods'], read),
    rule(['discovery.k8s.io'], ['endpointslices'], read),
  ],
};

const account = (name: string): Manifest => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });

/** Roles for the whole cluster, of the name of the namespace. */
export function clusterRoles(namespace: string): Manifest[] {
  return Object.entries(rights).flatMap(([name, rules]) => {
    const metadata = { name: `${namespace}-${name}`, labels: { 'app.kubernetes.io/part-of': 'cdk8s-etcd-e2e' } };
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name };
    const subjects = [{ kind: 'ServiceAccount', name, namespace }];
    return [
      { apiVersion, kind: 'ClusterRole', metadata, rules },
      { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
    ];
  });
}

/** An operator that sees these namespaces only, because another suite may run another one. */
export function operatorManifests(namespaces: readonly string[]): Manifest[] {
  const labels = { 'app.kubernetes.io/name': operator };
  const image = imageOfMonitoring();
  const args = [`--prometheus-config-reloader=${image}`, `--namespaces=${namespaces.join()}`];
  const template = {
    metadata: { labels },
    spec: {
      serviceAccountName: operator,
      securityContext: security,
      containers: [container(operator, image, { command: ['/bin/operator'], args })],
    },
  };
  return [
    account(operator),
    account(prometheus),
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: operator },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    },
  ];
}

/** What both resources have: the image has no entry point, because it has several programs. */
const runs = (name: string, program: string, version: string, ...more: Manifest[]) => ({
  ...{ image: imageOfMonitoring(), version, imagePullPolicy: 'IfNotPresent', replicas: 1, securityContext: security },
  containers: [{ name, command: [program] }, ...more],
});

/** Debian's Prometheus has no discovery of Kubernetes. */
export const discovery = (namespaces: readonly string[]): Manifest =>
  container('discovery', agentImage, {
    command: ['node', '--input-type=module', '--eval', readFileSync(join(__dirname, 'discovery.mjs'), 'utf8')],
    env: [
      { name: 'NAMESPACES', value: namespaces.join() },
      { name: 'NODE_EXTRA_CA_CERTS', value: '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt' },
    ],
  });

/** It takes every ServiceMonitor and PrometheusRule of these namespaces. */
export function prometheusManifest(namespace: string, watched: readonly string[]): Manifest {
  const there = {
    matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: [...watched] }],
  };
  return {
    apiVersion: `${group}/v1`,
    kind: 'Prometheus',
    metadata: { name: prometheus },
    spec: {
      ...runs('prometheus', '/bin/prometheus-discovered.sh', 'v2.42.0', discovery([namespace, ...watched])),
      serviceAccountName: prometheus,
      ...{ scrapeInterval: '2s', scrapeTimeout: '2s', evaluationInterval: '2s', retention: '1d' },
      ...{ serviceMonitorSelector: {}, serviceMonitorNamespaceSelector: there },
      ...{ ruleSelector: {}, ruleNamespaceSelector: there },
      alerting: { alertmanagers: [{ namespace, name: 'alertmanager-operated', port: 'web' }] },
    },
  };
}

export function alertmanagerManifest(): Manifest {
  return {
    apiVersion: `${group}/v1`,
    kind: 'Alertmanager',
    metadata: { name: alertmanager },
    spec: runs('alertmanager', '/bin/alertmanager', 'v0.25.0'),
  };
}
