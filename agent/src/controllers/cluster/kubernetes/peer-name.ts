import { Resolver } from 'node:dns/promises';
import { codeOf, messageOf } from '../../../lib/errors.ts';
import { type Known, known, unknown } from '../../../protocol/known.ts';

const notThere = ['ENOTFOUND', 'ENODATA'];

/** Each has sockets of its own, so all clusters share one. */
const resolvers = new Map<number, Resolver>();

function resolverOf(timeout: number): Resolver {
  const resolver = resolvers.get(timeout) ?? new Resolver({ timeout, tries: 1 });
  resolvers.set(timeout, resolver);
  return resolver;
}

/** Looks names up as the members do, but never for longer than `timeout` ms. */
export class PeerNames {
  readonly #resolver: Resolver;

  constructor(timeout: number) {
    this.#resolver = resolverOf(timeout);
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
