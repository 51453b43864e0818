import type { Secret } from '../../kube/objects.ts';
import { tidied } from './content.ts';
import type { Facts } from './facts.ts';
import type { KnownRoots, Secrets } from './read.ts';
import { authorityNames } from './wanted.ts';

/** An authority as it was when it was last read whole. */
interface Kept {
  readonly root: string;
  readonly data: Secret['data'];
}

/**
 * Remembers the authorities, keys included, for the life of the process: a tool that replaces objects by their manifests
 * empties their Secrets. That is never a wish; a wish for another authority is an annotation.
 */
export class KeptAuthorities {
  /** By the name of its Secret. */
  readonly #kept = new Map<string, Kept>();

  /** Returns a Secret that was emptied, as it was. None of which the cluster is known to have had another root since. */
  see(facts: Facts, secrets: Secrets, had: KnownRoots): Secret | undefined {
    for (const name of authorityNames) {
      const [found, secret] = [facts[name], secrets[name]];
      if (!secret.known || !secret.v) continue;
      if (found.kind === 'whole') this.#kept.set(secret.v.metadata.name, { root: found.root.id, data: secret.v.data });
      const kept = this.#kept.get(secret.v.metadata.name);
      if (!kept || found.kind !== 'empty' || found.isAskedFor) continue;
      if (had[name] === undefined || kept.root.startsWith(had[name]))
        return { ...secret.v, metadata: tidied(secret.v.metadata), data: { ...secret.v.data, ...kept.data } };
    }
    return undefined;
  }
}
