import type { KubeObject } from '../../kube/objects.ts';

/**
 * Which objects have changed in more than their status. What a reconciler writes itself must not wake it: an error that
 * contains the id of a request, for example, differs each time. The API server counts changes of a spec as generations.
 */
export class ObjectNews {
  /** By UID. */
  readonly #seen = new Map<string, string>();

  isNews({ metadata }: KubeObject, gone: boolean): boolean {
    const { uid, generation, deletionTimestamp, labels, annotations, finalizers } = metadata;
    const now = JSON.stringify([generation, deletionTimestamp, labels, annotations, finalizers]);
    const isNews = gone || this.#seen.get(uid) !== now;
    if (gone) this.#seen.delete(uid);
    else this.#seen.set(uid, now);
    return isNews;
  }
}
