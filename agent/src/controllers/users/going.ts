import { userReasons } from '../../protocol/user-reasons.ts';
import { type EtcdUserObject, isGoing, userNameOf } from '../objects/user-object.ts';
import { rolesOf } from './decide.ts';
import type { Read } from './read.ts';
import type { Found } from './status.ts';

/** What a pass over the users has found. */
interface Pass {
  readonly verdicts: ReadonlyMap<string, Found>;
  /** What etcd has. Undefined if it was not asked. */
  readonly read?: Read;
  readonly why?: string | undefined;
  /** Nothing is changed in etcd now. */
  readonly isPaused?: boolean;
}

/**
 * What is to be said of an EtcdUser that is being deleted. Its user is deleted at once, but the EtcdUser stays as long as
 * somebody's finalizer holds it. `users`: all EtcdUsers of its cluster.
 */
export function goingVerdict(
  user: EtcdUserObject,
  users: readonly EtcdUserObject[],
  { verdicts, read, why, isPaused = false }: Pass,
): Found {
  const reason = 'Deleting';
  const name = userNameOf(user);
  const said = verdicts.get(user.metadata.uid);
  if (!read && said && 'reason' in said && said.reason === reason) return said;
  const waits = said && 'message' in said ? said.message : (why ?? (isPaused ? userReasons.Paused : 'etcd refuses it'));
  const heir = users.find((each) => !isGoing(each) && userNameOf(each) === name);
  const isGone = read && !rolesOf(name).some((role) => read.facts.roles.has(role));
  if (!isGone && !(read && heir))
    return {
      ...{ kind: 'unknown', reason },
      message: `the user ${name} is not known to be deleted from etcd yet: ${waits}`,
    };
  const state = heir ? `EtcdUser ${heir.metadata.name} has the user ${name} now` : `etcd has no user ${name} any more`;
  const { finalizers = [] } = user.metadata;
  const held = finalizers.length > 0 ? `; it stays until its finalizers are removed: ${finalizers.join(', ')}` : '';
  return { kind: 'refused', reason, message: `the EtcdUser is being deleted, and ${state}${held}` };
}
