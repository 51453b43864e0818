import type { KubeObject } from '../kube/objects.ts';
import { quoted } from '../lib/quoted.ts';
import type { Session } from './session.ts';
import type { Terminal } from './terminal.ts';

type Resource = 'etcdclusters' | 'statefulsets' | 'etcdbackups' | 'etcdrestores' | 'jobs';

interface Target {
  readonly session: Session;
  readonly terminal: Terminal;
  /** Prints what would be sent, and sends nothing. */
  readonly dryRun: boolean;
}

/** Changes an object by a merge patch, and returns it. Undefined after a dry run, which prints the command of kubectl for the same. */
export async function patch<T extends KubeObject>(
  { session, terminal, dryRun }: Target,
  resource: Resource,
  name: string,
  body: object,
): Promise<T | undefined> {
  if (!dryRun) return session.client.merge<T>(session.paths.of(resource, name), body);
  terminal.print(patchCommand(session, resource, name, body));
  return undefined;
}

/** The command of kubectl for a merge patch. */
export function patchCommand(session: Session, resource: Resource, name: string, body: object): string {
  const singular = resource.replace(/s$/, '');
  return `${session.commands.kubectl(`patch ${singular} ${quoted(name)}`)} --type=merge -p ${quoted(JSON.stringify(body))}`;
}

/** Creates an object. Returns false after a dry run, which prints the object for `kubectl apply -f -`. */
export async function create(
  { session, terminal, dryRun }: Target,
  resource: Resource,
  object: Omit<KubeObject, 'metadata'> & { readonly metadata: object },
): Promise<boolean> {
  if (dryRun) {
    terminal.print(JSON.stringify(object, undefined, 2));
    return false;
  }
  await session.client.create(session.paths.of(resource), object);
  return true;
}
