import { isDeepStrictEqual } from 'node:util';
import type { NamedCluster } from '../../backup/catalog/identity/folder.ts';
import { quoted } from '../../lib/quoted.ts';
import { parseStore } from '../../store/open.ts';
import type { StoreSpec } from '../../store/spec.ts';
import type { Store } from '../../store/store.ts';
import type { Settings } from '../cli/settings.ts';
import type { OpenedStore } from '../shared/opened-store.ts';

/** A store, and a cluster in it. */
export type StorePlace = Pick<OpenedStore, 'spec' | 'cluster' | 'namespace'> & { readonly store: Pick<Store, 'url'> };

export const namedFlags = ({ cluster, namespace = '' }: NamedCluster): string =>
  [`--cluster=${cluster}`, `--namespace=${namespace}`].map(quoted).join(' ');

/** How a number of revisions is passed. */
export const raised = (several: boolean): string =>
  several ? 'pass the same number on all nodes: --bump-revision' : 'pass --bump-revision';

/** Flags with which another command finds the same snapshots. They contain no secrets, only names of files with secrets. */
export function sameStore({ store, spec, cluster, namespace }: StorePlace): string {
  const { retention: _, ...place } = spec;
  return [
    `--store=${isWhole(store.url, place) ? store.url : JSON.stringify(place)}`,
    `--cluster=${cluster}`,
    // Also without a namespace: a namespace may have a cluster of the same name.
    `--namespace=${namespace ?? ''}`,
  ]
    .map(quoted)
    .join(' ');
}

/** Flags of this run that say which etcdutl and which directory another command uses on the same machine. */
export function sameTools(settings: Pick<Settings, 'text'>): string[] {
  const [etcdutl, scratch] = [settings.text('etcdutl'), settings.text('scratch')];
  return [
    ...(etcdutl === undefined || etcdutl === 'etcdutl' ? [] : [`--etcdutl=${etcdutl}`]),
    ...(scratch === undefined ? [] : [`--scratch=${scratch}`]),
  ].map(quoted);
}

/** The flags with the age identities of this command. */
export const sameIdentities = (settings: Settings): string[] =>
  settings.list('ageIdentityFile').map((file) => `--age-identity-file=${quoted(file)}`);

/** Whether the URL says everything. That of a bucket lacks the region and the files with credentials. */
function isWhole(url: string, place: StoreSpec): boolean {
  try {
    return isDeepStrictEqual(parseStore(url), place);
  } catch {
    return false;
  }
}
