// CustomResourceDefinitions of other projects, from their Go modules. test/tools/ pins the versions.
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory, fillDirectory } from './cache.mjs';
import { run } from './run.mjs';

const tools = join(import.meta.dirname, '../../test/tools');

export const certManagerPlurals = ['certificates', 'certificaterequests', 'issuers', 'clusterissuers'];

/** Returns a directory with cert-manager's CustomResourceDefinitions; throws if they are unavailable. */
export const certManagerCrds = () =>
  crds({
    tool: 'cert-manager',
    module: 'github.com/cert-manager/cert-manager',
    folder: 'deploy/crds',
    files: certManagerPlurals.map((plural) => `cert-manager.io_${plural}.yaml`),
  });

/** Returns a directory with CustomResourceDefinitions of the Prometheus operator; throws if they are unavailable. */
export const prometheusOperatorCrds = () => ofPrometheusOperator('prometheus-operator-crds', ours);

/** The same with those that the operator itself needs. */
export const allPrometheusOperatorCrds = () => ofPrometheusOperator('prometheus-operator-all-crds', [...ours, ...its]);

const ours = ['servicemonitors', 'prometheusrules'];
const its = ['alertmanagerconfigs', 'alertmanagers', 'podmonitors', 'probes', 'prometheuses', 'scrapeconfigs'];

const ofPrometheusOperator = (cached, plurals) =>
  crds({
    cached,
    tool: 'prometheus-operator',
    module: 'github.com/prometheus-operator/prometheus-operator',
    folder: 'example/prometheus-operator-crd',
    files: plurals.map((plural) => `monitoring.coreos.com_${plural}.yaml`),
  });

async function crds({ tool, module, folder, files, cached = `${tool}-crds` }) {
  const directory = join(cacheDirectory, cached);
  const found = await readdir(directory).catch(() => []);
  if (files.some((file) => !found.includes(file))) {
    await fillDirectory(directory, (fresh) => fill(fresh, { tool, module, folder, files }));
  }
  return directory;
}

async function fill(fresh, { tool, module, folder, files }) {
  const env = { ...process.env, GOWORK: 'off', GOFLAGS: '-mod=readonly' };
  const args = ['mod', 'download', '-json', module];
  const { Dir } = JSON.parse(await run('go', args, { cwd: join(tools, tool), env, timeout: 300_000 }));
  for (const file of files) await cp(join(Dir, folder, file), join(fresh, file));
}
