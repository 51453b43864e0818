import type { ApiClient } from '../../../kube/api-client.ts';
import { unlessMissing } from '../../../kube/api-error.ts';
import type { ConfigMap, OwnerReference } from '../../../kube/objects.ts';
import type { Paths } from '../../../kube/paths.ts';
import { Unreadable } from '../../../protocol/known.ts';
import type { RecordDoc } from '../../../protocol/record.ts';
import { parseRecord } from '../../../protocol/record-schema.ts';
import type { RecordStore } from '../port.ts';

export interface RecordOptions {
  readonly client: ApiClient;
  readonly paths: Paths;
  readonly cluster: string;
  /** Of a record that goes with its cluster. */
  readonly owner: () => OwnerReference | undefined;
}

const key = 'record.json';

/** The record, in the ConfigMap `<cluster>-record`. */
export class RecordConfigMap implements RecordStore {
  readonly #options: RecordOptions;
  readonly #name: string;
  #seen: ConfigMap | undefined;
  #last: RecordDoc | undefined;

  constructor(options: RecordOptions) {
    this.#options = options;
    this.#name = `${options.cluster}-record`;
  }

  /** What was read last. */
  get last(): RecordDoc | undefined {
    return this.#last;
  }

  /** Nothing is written before it is read again. */
  rest(): void {
    this.#seen = undefined;
    this.#last = undefined;
  }

  async read(): Promise<{ doc: RecordDoc; rv: string } | undefined> {
    const { client, paths } = this.#options;
    this.#seen = await client.get<ConfigMap>(paths.of('configmaps', this.#name)).catch(unlessMissing);
    this.#last = undefined;
    if (!this.#seen) return undefined;
    const answer = parseRecord(this.#seen.data?.[key] ?? '');
    if (answer.kind === 'record') {
      this.#last = answer.doc;
      return { doc: answer.doc, rv: this.#seen.metadata.resourceVersion };
    }
    throw new Unreadable(
      `ConfigMap ${this.#name}: ${answer.kind === 'refused' ? answer.reason : 'there is no record in it'}`,
    );
  }

  async write(doc: RecordDoc, basedOn?: string): Promise<void> {
    const { client, paths, cluster, owner } = this.#options;
    const data = { [key]: JSON.stringify(doc) };
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
      const body = { ...ours, metadata: { ...metadata, ...(reference && { ownerReferences: [reference] }) } };
      await client.create(paths.of('configmaps'), body);
      return;
    }
    // What others put there, such as the labels of a backup tool, stays.
    const kept = this.#seen?.metadata.resourceVersion === basedOn ? this.#seen.metadata : undefined;
    const body = { ...ours, metadata: { ...metadata, ...kept, resourceVersion: basedOn } } as unknown as ConfigMap;
    await client.replace(paths.of('configmaps', this.#name), body);
  }

  async remove(basedOn: string): Promise<void> {
    const { client, paths } = this.#options;
    await client.remove(paths.of('configmaps', this.#name), { resourceVersion: basedOn }).catch(unlessMissing);
  }
}
