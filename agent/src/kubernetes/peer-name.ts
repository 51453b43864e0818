import { Resolver } from 'node:dns/promises';
import { codeOf, messageOf } from '../errors.ts';
import { type Known, known, unknown } from '../reconcile/known.ts';

const notThere = ['ENOTFOUND', 'ENODATA'];

/** Looks names up as the members do, but never for longer than `timeout` ms. */
export class PeerNames {
  readonly #resolver: Resolver;

  constructor(timeout: number) {
    this.#resolver = new Resolver({ timeout, tries: 1 });
  }

  /** Whether the name leads to this address alone. */
  async leadsTo(name: string, address: string): Promise<Known<boolean>> {
    try {
      const found = address.includes(':') ? await this.#resolver.resolve6(name) : await this.#resolver.resolve4(name);
      return known(found.length === 1 && found[0] === address);
    } catch (error) {
      if (notThere.includes(codeOf(error) ?? '')) return known(false);
      return unknown(`${name}: ${messageOf(error)}`);
    }
  }
}
