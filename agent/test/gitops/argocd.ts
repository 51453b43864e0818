import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Moment } from './moments.ts';
import { long, moments } from './moments.ts';

// The health checks of Argo CD in both forms: for its settings, and as the folders that it takes upstream.

const group = 'cdk8s-etcd.dev';
const root = join(import.meta.dirname, '../../..');
const folder = 'gitops/argocd';
const kinds = ['EtcdCluster', 'EtcdBackup', 'EtcdRestore', 'EtcdUser'] as const;
const yaml = (value: unknown): string => stringify(value, { lineWidth: 0 });

const checkOf = (kind: string): string => `${folder}/resource_customizations/${group}/${kind}`;

/** Reads a file of the repository. */
export const read = (name: string): string => readFileSync(join(root, name), 'utf8');

export const luaOf = (kind: Moment['kind']): string => read(`${checkOf(kind)}/health.lua`);

/** The message that the health check shows. */
export function messageOf({ object: { metadata, status } }: Moment): string {
  const { observedGeneration, observedAt, message, conditions = [] } = status ?? {};
  if (observedAt === long) return `no reconciler has reported since ${long}`;
  if (observedGeneration !== metadata.generation) return 'the reconciler has not seen this generation yet';
  return message ?? conditions.find(({ type }) => type === 'Ready')?.message ?? '';
}

const fileOf = ({ what }: Moment): string => `testdata/${what.toLowerCase().replace(/[^a-z]+/g, '_')}.yaml`;

/** Every file that is made of the checks and the moments, by its name. */
export function files(): Map<string, string> {
  const found = new Map<string, string>([[`${folder}/argocd-cm.yaml`, settings()]]);
  for (const kind of kinds) {
    const own = moments.filter((moment) => moment.kind === kind);
    for (const moment of own) found.set(`${checkOf(kind)}/${fileOf(moment)}`, yaml(moment.object));
    const tests = own.map((moment) => ({
      healthStatus: { status: moment.health, message: messageOf(moment) },
      inputPath: fileOf(moment),
    }));
    found.set(`${checkOf(kind)}/health_test.yaml`, yaml({ tests }));
  }
  return found;
}

function settings(): string {
  const data = Object.fromEntries(
    kinds.map((kind) => [`resource.customizations.health.${group}_${kind}`, luaOf(kind)] as const),
  );
  return `# Health checks for Argo CD. Merge them into its settings:
#   kubectl patch configmap argocd-cm -n argocd --patch-file argocd-cm.yaml
${yaml({ data })}`;
}
