import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { kubectl } from '../../e2e/support/kubectl';
import type { Manifest } from '../../synth';
import { environment } from './platform';
import { get, isReady, type Tool } from './tool';

/** A pipeline without a GitOps tool: `kubectl apply`, client-side and server-side by turns, and then it prunes. */
export function pipeline(): Tool {
  let [folder, revision, runs] = ['', '', 0];
  let before: Manifest[] = [];
  const how = () => (runs % 2 === 0 ? ['--server-side'] : []);
  const crds = () => ['-R', '-f', join(folder, environment, 'crds')];
  const clusters = () => ['-R', '-f', join(folder, environment, 'clusters')];

  async function run(): Promise<void> {
    runs++;
    await kubectl(['apply', ...how(), ...crds()]);
    await kubectl(['wait', '--for=condition=Established', '--timeout=60s', ...crds()]);
    const now = objectsIn(join(folder, environment, 'clusters'));
    // kubectl applies the files by their names, which put a Namespace behind what is in it.
    const items = now.filter(({ kind }) => kind === 'Namespace');
    await kubectl(['apply', ...how(), '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    await kubectl(['apply', ...how(), ...clusters()]);
    const stays = new Set(now.map(identity));
    const gone = before.filter((each) => !stays.has(identity(each)) && !isProtected(each));
    for (const { kind, metadata } of gone) {
      await kubectl(['delete', kind, metadata.name, '-n', metadata.namespace, '--ignore-not-found']);
    }
    before = now;
  }

  // As it was applied: the other way writes another annotation with what was applied last.
  const differing = (): Promise<string> =>
    kubectl(['diff', ...how(), ...clusters()]).then(
      () => '',
      ({ stdout, message }) => stdout || message,
    );

  /** kubectl reads an object first, and then what an apply would make of it: a status that is written meanwhile is a difference, once. */
  async function lastingDifferences(tries = 3): Promise<string> {
    const found = await differing();
    return found === '' || tries === 1 ? found : lastingDifferences(tries - 1);
  }

  return {
    name: 'kubectl apply',
    begin: run,
    async push(written) {
      folder = written;
      revision = createHash('sha256')
        .update(objectsIn(join(folder, environment)).map(text).join())
        .digest('hex');
      if (runs > 0) await run();
      return revision;
    },
    async said() {
      const differences = await lastingDifferences();
      const { items } = await get(
        'etcdclusters,etcdusers,deployments',
        '-A',
        '-l',
        'app.kubernetes.io/managed-by=cdk8s',
      );
      const waiting = items.filter((each: Manifest) => !isReady(each)).map(identity);
      return {
        revision,
        isSynced: differences === '',
        isHealthy: waiting.length === 0,
        text: `${waiting.join(', ')} ${differences}`,
      };
    },
    async end() {
      [folder, revision, runs, before] = ['', '', 0, []];
    },
    async endWithPruning() {
      throw new Error('a pipeline deletes nothing at its end');
    },
  };
}

const text = (manifest: Manifest): string => JSON.stringify(manifest);
const identity = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.namespace}/${metadata.name}`;
const isProtected = ({ metadata }: Manifest): boolean =>
  metadata.annotations?.['kustomize.toolkit.fluxcd.io/prune'] === 'disabled';

function objectsIn(folder: string): Manifest[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .flatMap((name) => parseAllDocuments(readFileSync(join(folder, name), 'utf8')))
    .map((document) => document.toJS());
}
