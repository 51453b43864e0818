// Members on the loopback with the certificates that the reconciler issues, so a peer's leaf names their address here, not the pods.
import { once } from 'node:events';
import { mkdir, readFile, realpath, rename, symlink, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { join } from 'node:path';
import type { MemberReport } from '../../../src/controllers/certificates/rotation.ts';
import { day, TestSecrets } from '../../../src/controllers/certificates/secrets.fixture.ts';
import { certificatesIn, idOf, shortId } from '../../../src/lib/certificates.ts';
import { listId } from '../../../src/lib/revocation-lists.ts';
import type { EtcdBinaries } from '../../harness/etcd-binaries.ts';
import { EtcdMember } from '../../harness/etcd-member.ts';
import { freePorts } from '../../harness/free-ports.ts';

export const leaves = ['peer', 'server', 'client'] as const;
export type LeafName = (typeof leaves)[number];
const keys = ['ca.crt', 'tls.crt', 'tls.key'] as const;

export interface Files {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Secrets that were filled two months ago, and are mounted as a kubelet does it. */
export class Mounted {
  readonly root: string;
  readonly secrets: TestSecrets;
  /** Of the client, as it is mounted. */
  readonly tls = { cert: Buffer.of(), key: Buffer.of() };
  #mounts = 0;

  private constructor(root: string, secrets: TestSecrets) {
    this.root = root;
    this.secrets = secrets;
  }

  static async make(root: string, change: ConstructorParameters<typeof TestSecrets>[0] = {}): Promise<Mounted> {
    const secrets = new TestSecrets(change);
    secrets.now = Date.now() - 61 * day;
    const mounted = new Mounted(root, secrets);
    mounted.#toLoopback();
    await secrets.settle();
    await mounted.mount();
    return mounted;
  }

  /** Asks for new intermediates. */
  rotate(intermediateRotation: string): void {
    this.change({ intermediateRotation });
  }

  change(change: ConstructorParameters<typeof TestSecrets>[0]): void {
    this.secrets.spec = new TestSecrets(change).spec;
    this.#toLoopback();
  }

  #toLoopback(): void {
    const { spec } = this.secrets;
    const peer = { ...spec.shapes.peer, ipAddresses: ['127.0.0.1'] };
    this.secrets.spec = { ...spec, shapes: { ...spec.shapes, peer } };
  }

  path(leaf: LeafName, key: string): string {
    return join(this.root, leaf, key);
  }

  /** All files of a Secret change at once. */
  async mount(): Promise<void> {
    const { root } = this;
    this.#mounts++;
    for (const leaf of leaves) {
      const directory = join(root, `${leaf}-${this.#mounts}`);
      await mkdir(directory);
      for (const key of [...keys, 'ca.crl']) {
        const bytes = this.secrets.bytes(leaf, key);
        if (bytes) await writeFile(join(directory, key), bytes, { mode: 0o600 });
      }
      await symlink(directory, join(root, `${leaf}.new`));
      await rename(join(root, `${leaf}.new`), join(root, leaf));
    }
    const [cert, key] = ['tls.crt', 'tls.key'].map((name) => Buffer.from(this.secrets.text('client', name)));
    Object.assign(this.tls, { cert, key });
  }

  /** The files as they are at this moment. */
  async files(leaf: LeafName): Promise<Files> {
    const directory = await realpath(join(this.root, leaf));
    const [ca, cert, key] = await Promise.all(keys.map((name) => readFile(join(directory, name), 'utf8')));
    return { ca: ca!, cert: cert!, key: key! };
  }

  /** What a member reports that has the files of this moment, and has loaded their roots or those of earlier files. */
  async report(ordinal: number, loaded?: Readonly<Record<string, Files>>): Promise<MemberReport> {
    const end = async (leaf: 'peer' | 'server') => {
      const now = await this.files(leaf);
      const first = (pem: string) => shortId(idOf(certificatesIn(pem)![0]!));
      const list = shortId(listId(await readFile(this.path(leaf, 'ca.crl'))));
      return { leaf: first(now.cert), root: first(now.ca), loaded: first((loaded?.[leaf] ?? now).ca), list };
    };
    return { pod: `orders-${ordinal}`, peers: await end('peer'), clients: await end('server') };
  }
}

export async function startMembers(binaries: EtcdBinaries, mounted: Mounted): Promise<EtcdMember[]> {
  const { root } = mounted;
  const path = (leaf: LeafName, key: string) => mounted.path(leaf, key);
  const ports = await freePorts(6);
  const url = (i: number) => `https://127.0.0.1:${ports[i]}`;
  const names = [0, 1, 2].map((i) => `etcd-${i}`);
  const args = [
    ...['--initial-cluster', names.map((name, i) => `${name}=${url(i)}`).join(), '--unsafe-no-fsync'],
    ...['--client-crl-file', path('server', 'ca.crl'), '--peer-crl-file', path('peer', 'ca.crl')],
    ...['--client-cert-auth', '--trusted-ca-file', path('server', 'ca.crt')],
    ...['--cert-file', path('server', 'tls.crt'), '--key-file', path('server', 'tls.key')],
    ...['--peer-client-cert-auth', '--peer-trusted-ca-file', path('peer', 'ca.crt')],
    ...['--peer-cert-file', path('peer', 'tls.crt'), '--peer-key-file', path('peer', 'tls.key')],
  ];
  const members = names.map((name, i) => {
    const clientUrl = url(i + 3);
    const { tls } = mounted;
    const at = { name, dataDir: join(root, name), log: join(root, `${name}.log`), peerUrl: url(i) };
    return new EtcdMember({ ...at, binaries, clientUrl, advertisedUrl: clientUrl, args, tls });
  });
  await Promise.all(members.map((member) => member.spawn()));
  await Promise.all(members.map((member) => member.healthy()));
  return members;
}

/** Status of a request: in TLS 1.3 a client's certificate is refused only after the handshake. */
export async function asked(
  url: string,
  { ca, cert, key }: Files,
  rejectUnauthorized = true,
): Promise<number | undefined> {
  const request = get(url, { ca, cert, key, rejectUnauthorized, agent: false, timeout: 5_000 });
  const [response] = await once(request, 'response');
  response.resume();
  return response.statusCode;
}
