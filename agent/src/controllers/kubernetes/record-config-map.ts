import { recordName } from '../../../../src/etcd/record-name.ts';
import { keptSnapshotsKey } from '../../../../src/lib/backup-pod.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { unlessMissing } from '../../kube/api-error.ts';
import type { ConfigMap, OwnerReference } from '../../kube/objects.ts';
import type { Paths } from '../../kube/paths.ts';
import { keptSnapshots, type Naming } from '../../protocol/kept-snapshots.ts';
import { Unreadable } from '../../protocol/known.ts';
import type { RecordDoc } from '../../protocol/record.ts';
import { parseRecord } from '../../protocol/record-schema.ts';
import type { RecordStore } from '../port/port.ts';

export interface RecordOptions {
  readonly client: ApiClient;
  readonly paths: Paths;
  readonly cluster: string;
  /** Owner of a record that is deleted with its cluster. */
  readonly owner: () => OwnerReference | undefined;
  /** The EtcdRestores of the cluster; undefined while they are unknown. */
  readonly restores?: () => readonly Naming[] | undefined;
}

const key = 'record.json';

/** Stores the record in the ConfigMap `<cluster>-record`. */
export class RecordConfigMap implements RecordStore {
  readonly #options: RecordOptions;
  readonly #name: string;
  #configMap: ConfigMap | undefined;
  #last: RecordDoc | undefined;

  constructor(options: RecordOptions) {
    this.#options = options;
    this.#name = recordName(options.cluster);
  }

  /** The record as last read. */
  get last(): RecordDoc | undefined {
    return this.#last;
  }

  /** Forgets the record. It is read again before the next write. */
  rest(): void {
    this.#configMap = undefined;
    this.#last = undefined;
  }

  async read(): ReturnType<RecordStore['read']> {
    const { client, paths } = this.#options;
    this.#configMap = await client.get<ConfigMap>(paths.of('configmaps', this.#name)).catch(unlessMissing);
    this.#last = undefined;
    if (!this.#configMap) return undefined;
    const answer = parseRecord(this.#configMap.data?.[key] ?? '');
    if (answer.kind === 'record') {
      this.#last = answer.doc;
      const isListOld = this.#listed !== this.#kept(answer.doc);
      return { doc: answer.doc, rv: this.#configMap.metadata.resourceVersion, isListOld: isListOld || undefined };
    }
    throw new Unreadable(
      `ConfigMap ${this.#name}: ${answer.kind === 'refused' ? answer.reason : 'it does not contain a record'}`,
    );
  }

  /** What retention keeps, for the pods of backups. */
  #kept(doc: RecordDoc): string {
    return keptSnapshots(doc, this.#options.restores?.(), this.#listed);
  }

  get #listed(): string | undefined {
    return this.#configMap?.data?.[keptSnapshotsKey];
  }

  async write(doc: RecordDoc, basedOn?: string): Promise<void> {
    const { client, paths, cluster, owner } = this.#options;
    const data = { [key]: JSON.stringify(doc), [keptSnapshotsKey]: this.#kept(doc) };
    const metadata = {
      name: this.#name,
      labels: {
        'app.kubernetes.io/name': 'etcd',
        'app.kubernetes.io/instance': cluster,
        'app.kubernetes.io/component': 'record',
        'app.kubernetes.io/part-of': cluster,
        'app.kubernetes.io/managed-by': 'etcd-reconciler',
      },
    };
    const ours = { apiVersion: 'v1', kind: 'ConfigMap', data };
    if (basedOn === undefined) {
      const reference = owner();
      const body = { ...ours, metadata: { ...metadata, ownerReferences: reference && [reference] } };
      await client.create(paths.of('configmaps'), body);
      return;
    }
    // Keeps what others added, such as the labels of a backup tool.
    const known = this.#configMap?.metadata;
    const kept = known?.resourceVersion === basedOn ? known : undefined;
    const body = { ...ours, metadata: { ...metadata, ...kept, resourceVersion: basedOn } } as unknown as ConfigMap;
    await client.replace(paths.of('configmaps', this.#name), body);
  }

  async remove(basedOn: string): Promise<void> {
    const { client, paths } = this.#options;
    await client.remove(paths.of('configmaps', this.#name), { resourceVersion: basedOn }).catch(unlessMissing);
  }
}
