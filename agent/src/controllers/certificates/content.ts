import type { Secret } from '../../kube/objects.ts';
import type { Write } from './decide.ts';
import type { Keyed } from './issue.ts';
import { newAuthority, type Secrets, textOf } from './read.ts';
import { type AuthorityName, intermediateName, issuerOf, type LeafName, rootName, type Wanted } from './wanted.ts';

/** The Secret with new content. Keeps whatever else it has, and the version that was read. */
export async function contentOf(write: Write, secrets: Secrets, wanted: Wanted, now: number): Promise<Secret> {
  const before = there(secrets, write.of);
  const made = await (write.make === 'leaf'
    ? leaf(write.of as LeafName, secrets, wanted, now)
    : authority(write, before, wanted, now));
  const data = Object.fromEntries(
    Object.entries(made).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
  return { ...before, metadata: tidied(before.metadata), data: { ...before.data, ...data } };
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Without the request for a new authority, which is met, and without data that kubectl would remove at its next apply. */
function tidied({ annotations, ...metadata }: Secret['metadata']): Secret['metadata'] {
  if (!annotations) return metadata;
  const kept = Object.entries(annotations).filter(
    ([name, value]) => name !== newAuthority && !(name === lastApplied && holdsData(value)),
  );
  return { ...metadata, annotations: Object.fromEntries(kept) };
}

function holdsData(applied: string): boolean {
  try {
    const { data, stringData } = JSON.parse(applied) as Partial<Record<'data' | 'stringData', object>>;
    return Object.keys({ ...data, ...stringData }).length > 0;
  } catch {
    // A key may be in there.
    return true;
  }
}

async function authority({ make, of }: Write, before: Secret, { cluster, rotation }: Wanted, now: number) {
  const { issueRoot, issueIntermediate } = await import('./issue.ts');
  const name = of as AuthorityName;
  const root = make === 'authority' ? await issueRoot(rootName(cluster, name), now) : keyed(before, 'root');
  const { cert, key } = await issueIntermediate(intermediateName(cluster, name), root, now);
  return {
    ...{ 'root.crt': root.cert, 'root.key': root.key, 'tls.crt': cert, 'tls.key': key },
    rotation: rotation ?? textOf(before, 'rotation'),
  };
}

async function leaf(of: LeafName, secrets: Secrets, { shapes }: Wanted, now: number) {
  const { issueLeaf } = await import('./issue.ts');
  const issuer = there(secrets, issuerOf[of]);
  const intermediate = keyed(issuer, 'tls');
  const { cert, key } = await issueLeaf(shapes[of], intermediate, now);
  return { 'ca.crt': textOf(issuer, 'root.crt'), 'tls.crt': cert + intermediate.cert, 'tls.key': key };
}

const keyed = (secret: Secret, name: 'root' | 'tls'): Keyed => ({
  cert: textOf(secret, `${name}.crt`),
  key: textOf(secret, `${name}.key`),
});

function there(secrets: Secrets, name: AuthorityName | LeafName): Secret {
  const secret = secrets[name];
  if (!secret.known || !secret.v) throw new Error('the Secret was not read');
  return secret.v;
}
