import { trustKeys } from '../../../../src/etcd/trust-keys.ts';
import type { TlsMaterial } from '../../etcd/tls.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import type { Secret } from '../../kube/objects.ts';
import type { Paths } from '../../kube/paths.ts';
import { type RevocationList, readRevocationList } from '../../lib/revocation-lists.ts';

/** How long a Secret is cached, in ms. */
const fresh = 30_000;

export type ClientMaterial = TlsMaterial & { readonly servername: string };

type Files = Required<Pick<TlsMaterial, 'ca' | 'cert' | 'key'>>;

/** Reads the client certificate of a cluster from its Secret. */
export class ClientTls {
  readonly #client: ApiClient;
  readonly #paths: Paths;
  /** The last lists that could be read. */
  readonly #lists = new Map<string, RevocationList>();
  /** The last certificates that could be read. */
  readonly #last = new Map<string, Files>();
  readonly #read = new Map<string, { readonly at: number; readonly data: Promise<Secret> }>();

  constructor(client: ApiClient, paths: Paths) {
    this.#client = client;
    this.#paths = paths;
  }

  /**
   * Pods are reached by IP address. `servername` is a name in the certificate that they share. `listSecret` has the list of what
   * is revoked beside the members' certificate; without it, the client's own Secret may have one.
   */
  async material(secret: string, servername: string, listSecret = secret): Promise<ClientMaterial> {
    const revoked = await this.#list(listSecret);
    return { ...(await this.#files(secret)), servername, revoked };
  }

  /** Members take the last certificate while its Secret is deleted or empty: without it they would seem not to answer. */
  async #files(secret: string): Promise<Files> {
    try {
      const data = await this.#data(secret);
      const part = (key: string) => {
        const value = data[key];
        if (!value) throw new Error(`Secret ${secret} has no ${key}`);
        return Buffer.from(value, 'base64');
      };
      const files = { ca: part('ca.crt'), cert: part('tls.crt'), key: part('tls.key') };
      this.#last.set(secret, files);
      return files;
    } catch (error) {
      // It may exist in a moment: the reconciler issues it.
      this.#read.delete(secret);
      const last = this.#last.get(secret);
      if (!last) throw error;
      return last;
    }
  }

  /** A list that is lost must not keep the reconciler from the cluster in which it is to write it again. */
  async #list(secret: string): Promise<RevocationList | undefined> {
    const { 'ca.crl': list = '' } = await this.#data(secret).catch(() => ({}) as Record<string, string>);
    const found = readRevocationList(Buffer.from(list, 'base64'));
    if (found) this.#lists.set(secret, found);
    return this.#lists.get(secret);
  }

  /** The authorities of both sources of certificates, while a cluster changes from one to the other; undefined: not known yet. */
  async authorities(trustSecret: string): Promise<Buffer | undefined> {
    const found = (await this.#data(trustSecret))[trustKeys.client];
    if (!found) this.#read.delete(trustSecret);
    return found ? Buffer.from(found, 'base64') : undefined;
  }

  async #data(secret: string): Promise<NonNullable<Secret['data']>> {
    return (await this.#secret(secret)).data ?? {};
  }

  #secret(secret: string): Promise<Secret> {
    const now = performance.now();
    const read = this.#read.get(secret);
    if (read && now - read.at < fresh) return read.data;
    const data = this.#client.get<Secret>(this.#paths.of('secrets', secret));
    this.#read.set(secret, { at: now, data });
    data.catch(() => this.#read.delete(secret));
    return data;
  }
}
