import { normalSpec } from '../resource/normal-spec';
import { withoutField } from '../resource/prop-problems';
import { resourceProblems } from '../resource/resource-problems';
import { resourceYaml } from '../resource/resource-yaml';
import { namespaceProblem } from '../validation/names';
import { nearest } from '../validation/nearest';
import { apis, apiWith } from './apis';
import { asValues } from './bitnami/values';
import { Build, type BuildOptions } from './build';
import { type Document, readDocuments } from './documents';
import { join } from './join';
import { own } from './own/own';
import type { Api, Planned } from './plan';
import { InputError, Report } from './report';

export interface RenderOptions extends BuildOptions {
  /** Namespace of every object. Default: the namespace of its document. */
  readonly namespace?: string;
  /** Name of the input in messages. */
  readonly file: string;
  /** Number of the store from which a static Pod restores a control plane. Given: that Pod instead of the manifests. */
  readonly restorePod?: number;
  /** True: the resources of this project instead of their manifests. */
  readonly resources?: boolean;
}

export interface Rendered {
  readonly yaml: string;
  /** Notes, and the fields that could not be carried over. */
  readonly lines: readonly string[];
}

const kinds = Object.keys(own.kinds);

/**
 * Renders the manifests of the resources in the YAML.
 *
 * @throws InputError if the input is invalid
 */
export function render(text: string, { file, namespace, restorePod, resources, ...options }: RenderOptions): Rendered {
  const report = new Report();
  const documents = readDocuments(text, { file, namespace }, report).map((each) => asValues(each, namespace));
  const planned = join(documents.flatMap((document) => plan(document) ?? []));
  report.check();
  if (planned.length === 0)
    throw new InputError([...report.lines, `error: ${file}: contains no ${kinds.join(', ')}; add at least one`]);
  const build = new Build(resources ? { reconciler: false } : options);
  build.add(planned);
  build.validate();
  report.check();
  if (resources) return { yaml: resourcesOf(planned), lines: report.lines };
  const yaml = restorePod === undefined ? build.yaml() : build.restorePods(restorePod).join('---\n');
  report.check();
  if (yaml === '')
    throw new InputError([
      `error: ${file}: contains no EtcdBackupSchedule with spec.controlPlane; leave out --restore-pod`,
    ]);
  return { yaml, lines: [...report.lines, ...build.notes] };
}

/** What is the default is left out, as the constructs leave it out. Only a cluster has a size, which is always written. */
const resourcesOf = (planned: readonly Planned[]): string =>
  planned
    .map(({ kind, name, labels, document: { target: namespace }, spec }) =>
      resourceYaml(kind, { name, namespace, labels }, normalSpec(kind, spec)),
    )
    .join('---\n');

function plan(document: Document): Planned | undefined {
  const { kind, name, target, metadata, report } = document;
  const api = apiOf(document);
  const read = api && readerOf(api, kind);
  if (!api || !read) return undefined;
  if (name === '') metadata.required('name');
  // What is not text is not the namespace of anything.
  metadata.text('namespace');
  const problem = target === undefined ? undefined : namespaceProblem('metadata.namespace', target);
  if (problem) report.error('', problem);
  const planned = read(document);
  for (const { path, remedy } of document.top.unread()) api.unknownField(report, path, remedy);
  if (!planned) return undefined;
  const found = resourceProblems(planned.kind, planned.spec, { name: name || 'name' });
  for (const { path, message } of found) report.error(api.fieldOf(path, document), withoutField(path, message));
  return found.length > 0 ? undefined : planned;
}

/** Not for `constructor` and the like, which every object has. */
const readerOf = ({ kinds: known }: Api, kind: string) => (Object.hasOwn(known, kind) ? known[kind] : undefined);

function apiOf({ apiVersion, kind, report }: Document): Api | undefined {
  const api = apiWith(apiVersion);
  if (api && readerOf(api, kind)) return api;
  if (api) {
    const meant = nearest(kind, Object.keys(api.kinds));
    report.error('kind', `${apiVersion} has no such kind; ${meant ? `did you mean ${meant}?` : `use ${listed(api)}`}`);
  } else if (isOfOtherOperator(apiVersion, kind)) {
    const why =
      'is of an operator whose resources are not read; docs/clusters/move-from-operators.md says how to move its etcd';
    if (kinds.includes(kind)) report.error('apiVersion', `${apiVersion} ${why}`);
    else report.lost('', `${apiVersion} ${why}`);
  } else if (kinds.includes(kind)) {
    const known = apis.map((each) => each.apiVersion).filter((each) => each.includes('/'));
    report.error('apiVersion', `is unknown; use ${known.join(', ')}`);
  } else {
    report.lost('', `is not one of ${kinds.join(', ')}; apply it separately`);
  }
  return undefined;
}

/** Whether it is a resource of an operator of etcd, and not a mistake in one that is read. */
function isOfOtherOperator(apiVersion: string, kind: string): boolean {
  const group = apiVersion.split('/')[0]!;
  const groups = apis.map((api) => api.apiVersion.split('/')[0]!);
  const misspelt = nearest(group, [own.apiVersion.split('/')[0]!]);
  if (groups.includes(group) || misspelt !== undefined) return false;
  return group.includes('.') && (/etcd/i.test(group) || /^etcd/i.test(kind));
}

function listed(api: Api): string {
  return Object.keys(api.kinds).join(', ');
}
