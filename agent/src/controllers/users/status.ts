import { isSameStatus } from '../../kube/merge-patch.ts';
import { type UserReason, userReasons } from '../../protocol/user-reasons.ts';
import {
  type EtcdUserObject,
  type UserCertificate,
  type UserCondition,
  type UserStatus,
  userNameOf,
} from '../objects/user-object.ts';
import type { UserVerdict } from './decide.ts';

/** The condition Ready, without its times. */
export type Ready = Pick<UserCondition, 'status' | 'reason' | 'message'>;

/** What is known of an EtcdUser: what etcd has, or why that is not known. */
export type FoundUser =
  | UserVerdict
  | { readonly kind: 'unknown'; readonly reason: UserReason; readonly message: string };

const no = (reason: UserReason, message: string = userReasons[reason]): Ready => ({ status: 'False', reason, message });

/** `certificate`: undefined while nothing is known of it. `isManaged`: the reconciler issues certificates. */
export function readyOf(
  { spec }: EtcdUserObject,
  found: FoundUser,
  certificate: UserCertificate | undefined,
  isManaged: boolean,
): Ready {
  if (found.kind === 'unknown') return { status: 'Unknown', reason: found.reason, message: found.message };
  if (found.kind === 'refused') return no(found.reason, found.message);
  if (found.kind === 'call') return no('Pending');
  if (spec.passwordSecret !== undefined)
    return { status: 'True', reason: 'UserReady', message: `${userReasons.UserReady}${andPassword}` };
  if (spec.certificateSecret === undefined)
    return { status: 'True', reason: 'UserReady', message: userReasons.UserReady };
  if (!isManaged)
    return no(
      'CertificateProblem',
      'spec.certificateSecret is for clusters whose certificates the reconciler issues (EtcdTls.managed()); remove it, and make a certificate with the name of the user as its CN',
    );
  const problem = certificate?.problem;
  if (problem) return no(problem.reason === 'Issuing' ? 'CertificatePending' : 'CertificateProblem', problem.message);
  if (!certificate?.certificate) return no('CertificatePending');
  return { status: 'True', reason: 'UserReady', message: userReasons.UserReady };
}

const andPassword = ', and the password that its Secret had when it was last read; it is read about every 30 seconds';

/** What ends by itself. */
const passing: readonly UserReason[] = ['Pending', 'CertificatePending', 'ClusterNotFound', 'ClusterNotServing'];
/** What nobody has to act on. */
const quiet: readonly UserReason[] = ['UserReady', 'Paused', 'ClusterDeleting', 'Deleting'];

/** Ready for people; with the others kstatus, and so Flux, knows when an apply is complete. */
const statusesOf = ({ status, reason }: Ready): Record<UserCondition['type'], UserCondition['status']> => {
  const isPassing = status === 'Unknown' || passing.includes(reason);
  const isStalled = !isPassing && !quiet.includes(reason);
  return { Ready: status, Reconciling: isPassing ? 'True' : 'False', Stalled: isStalled ? 'True' : 'False' };
};

/** The status to write; undefined: it is there already. */
export function statusOf(
  user: EtcdUserObject,
  ready: Ready,
  certificate: UserCertificate | undefined,
  now: number,
): UserStatus | undefined {
  const { metadata, spec, status: before } = user;
  const { generation } = metadata;
  const conditions = Object.entries(statusesOf(ready)).map(([name, status]): UserCondition => {
    const type = name as UserCondition['type'];
    const last = before?.conditions?.find((each) => each.type === type);
    const since = last?.status === status ? last.lastTransitionTime : new Date(now).toISOString().replace(/\.\d+/, '');
    return {
      ...{ type, ...ready, status, lastTransitionTime: since },
      observedGeneration: generation,
    };
  });
  const { notAfter, renewAt } = certificate?.certificate ?? {};
  const hasCertificate = spec.certificateSecret !== undefined && spec.passwordSecret === undefined;
  const hasSecret = hasCertificate && ready.reason !== 'SecretTaken';
  const found: UserStatus = {
    observedGeneration: generation,
    conditions,
    userName: userNameOf(user),
    // What is not known now keeps its last state.
    certificate: hasSecret ? (notAfter === undefined ? before?.certificate : { notAfter, renewAt }) : undefined,
  };
  return isSameStatus(before, found) ? undefined : found;
}
