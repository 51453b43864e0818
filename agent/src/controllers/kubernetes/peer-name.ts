import { Resolver } from 'node:dns/promises';
import { codeOf, messageOf } from '../../lib/errors.ts';
import { type Known, known, unknown } from '../../protocol/known.ts';

const missing = ['ENOTFOUND', 'ENODATA'];

/** One resolver for all clusters, because each resolver has its own sockets. */
const resolvers = new Map<number, Resolver>();

function resolverOf(timeout: number): Resolver {
  const resolver = resolvers.get(timeout) ?? new Resolver({ timeout, tries: 1 });
  resolvers.set(timeout, resolver);
  return resolver;
}

/** Resolves names as the members do, but never takes longer than `timeout` ms. */
export class PeerNames {
  readonly #resolver: Resolver;

  constructor(timeout: number) {
    this.#resolver = resolverOf(timeout);
  }

  /** Returns whether the name resolves to exactly this address. */
  async resolvesTo(name: string, address: string): Promise<Known<boolean>> {
    try {
      const found = address.includes(':') ? await this.#resolver.resolve6(name) : await this.#resolver.resolve4(name);
      return known(found.length === 1 && found[0] === address);
    } catch (error) {
      if (missing.includes(codeOf(error) ?? '')) return known(false);
      return unknown(`${name}: ${messageOf(error)}`);
    }
  }
}
