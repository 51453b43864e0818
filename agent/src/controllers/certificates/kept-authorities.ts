import type { Secret } from '../../kube/objects.ts';
import type { CertificateFacts, WholeAuthority } from './facts.ts';
import { type KnownAuthorities, newAuthority, type Secrets } from './read.ts';
import { type AuthorityName, authorityNames, type WantedCertificates } from './wanted.ts';

/** Data of authorities, keys included. */
export type KeptData = Readonly<Partial<Record<AuthorityName, Secret['data']>>>;

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

  /**
   * Returns what can be written back, as soon as its Secret exists. None of which the cluster is known to have had another
   * root since.
   */
  see(
    facts: CertificateFacts,
    secrets: Secrets,
    had: KnownAuthorities,
    names: WantedCertificates['authorities'],
  ): KeptData {
    const found = authorityNames.map((of) => {
      this.#seeOne(facts[of], secrets[of]);
      return [of, secrets[of].known ? this.#keptOf(names[of], had[of]?.root) : undefined] as const;
    });
    return Object.fromEntries(found.filter(([, data]) => data !== undefined));
  }

  #seeOne(found: CertificateFacts[AuthorityName], secret: Secrets[AuthorityName]): void {
    if (!secret.known || !secret.v) return;
    const { metadata, data } = secret.v;
    // Whoever asks for another authority must not get this one again, even if a tool takes the annotation away.
    if (metadata.annotations?.[newAuthority] !== undefined) this.#kept.delete(metadata.name);
    else if (isSound(found)) this.#kept.set(metadata.name, { root: found.root.id, data });
  }

  #keptOf(name: string, root: string | undefined): Secret['data'] {
    const kept = this.#kept.get(name);
    return root === undefined || kept?.root.startsWith(root) ? kept?.data : undefined;
  }
}

/** One from which a key was taken must not replace the whole one that is remembered. */
const isSound = (found: CertificateFacts[AuthorityName]): found is WholeAuthority =>
  found.kind === 'whole' && found.rootKey === undefined && 'id' in (found.next ?? found).intermediate;
