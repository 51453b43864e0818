import { protection } from './gitops';

/** Keeps an object of your own from being pruned by Argo CD or Flux, as `protect` does it for the objects of a cluster. */
export class PruneProtection {
  /**
   * Returns annotations for an object that must stay when it leaves the repository that Argo CD or Flux applies. The
   * Namespace of a cluster needs them: whoever deletes it deletes every volume in it.
   *
   * @example
   * new KubeNamespace(chart, 'namespace', { metadata: { name: 'shop', annotations: PruneProtection.annotations() } });
   */
  static annotations(): { [name: string]: string } {
    return { ...protection };
  }

  private constructor() {}
}
