import { reasons } from '../../protocol/reasons.ts';
import type { AuthCall } from '../etcd/auth-calls.ts';
import type { EtcdClusterObject } from '../objects/cluster-object.ts';
import type { AuthReport } from '../port/observed.ts';
import type { Read } from './read.ts';
import type { FoundUser } from './status.ts';

/** How a pass over the users ended. */
export interface PassEnd {
  readonly cluster: EtcdClusterObject;
  /** Number of EtcdUsers; undefined if they are not known. */
  readonly users: number | undefined;
  readonly verdicts: ReadonlyMap<string, FoundUser>;
  readonly refusal?: AuthReport['refusal'];
  readonly why?: string | undefined;
}

type Report = Omit<AuthReport, 'seen'>;

/** Remembers what etcd's authentication is, for the status of the EtcdCluster. */
export class AuthNotes {
  #isWanted: boolean | undefined;
  #wasOn: boolean;
  #seen: { readonly isEnabled: boolean; readonly hasUsers: boolean; readonly tick: number } | undefined;
  /** Names of users that were deleted while no other was left. */
  readonly #removed = new Set<string>();
  #report: Report | undefined;
  #text: string | undefined;

  constructor({ status }: Pick<EtcdClusterObject, 'status'>) {
    const last = status?.conditions?.find(({ type }) => type === 'AuthReady');
    this.#wasOn = ['AuthenticationOn', 'OnlyRoot', 'AuthNotSwitchedOff'].includes(last?.reason ?? '');
  }

  /** Authentication was on when it was last seen as asked for, here or by an earlier process: if it is off, something else did that. */
  get wasOn(): boolean {
    return this.#wasOn;
  }

  /** `isWanted`: what `spec.auth`, the EtcdUsers and etcd itself ask for. */
  saw({ facts: { isEnabled }, hasUsers }: Read, isWanted: boolean): void {
    this.#isWanted = isWanted;
    if (isEnabled || !isWanted) this.#wasOn = isEnabled;
    this.#seen = { isEnabled, hasUsers, tick: performance.now() };
    if (hasUsers) this.#removed.clear();
  }

  /** Returns the names of the users that these calls have deleted. */
  made(calls: readonly AuthCall[]): string[] {
    const deleted = new Set<string>();
    for (const call of calls) {
      if (call.kind === 'UserDelete') deleted.add(call.user);
      if (call.kind === 'UserAdd') deleted.delete(call.user);
    }
    if (this.#seen && !this.#seen.hasUsers) for (const user of deleted) this.#removed.add(user);
    return [...deleted];
  }

  /** What etcd has may be replaced. */
  forget(): void {
    this.#seen = undefined;
  }

  /** Returns true if there is news. */
  end(end: PassEnd): boolean {
    const before = this.#text;
    this.#report = this.#reportOf(end);
    this.#text = JSON.stringify([this.#report, this.#seen?.isEnabled, this.#seen?.hasUsers]);
    return this.#text !== before;
  }

  /** Undefined if nothing is to be said: there is no certificate of root, no wish, and authentication was not seen on. */
  report(): AuthReport | undefined {
    if (!this.#report || !this.#seen) return this.#report;
    const { tick, ...seen } = this.#seen;
    return { ...this.#report, seen: { ...seen, age: performance.now() - tick } };
  }

  #reportOf({ cluster, users = 0, verdicts, refusal, why }: PassEnd): Report | undefined {
    const { auth, tls, paused } = cluster.spec;
    const isWanted = auth ?? this.#isWanted ?? users > 0;
    const removed = this.#removed.size;
    if (tls?.rootSecret === undefined)
      return isWanted || this.#seen?.isEnabled
        ? { isWanted, removed, refusal: { reason: 'AuthRefused', message: reasons.AuthRefused } }
        : undefined;
    const cause = why ?? (paused ? 'spec.paused is true, so nothing is changed' : whyRefused(verdicts));
    return { isWanted, removed, refusal, why: cause };
  }
}

/** An EtcdUser that etcd refuses may keep authentication off. */
function whyRefused(verdicts: PassEnd['verdicts']): string | undefined {
  const found = [...verdicts.values()].find((each) => each.kind === 'refused' && each.reason === 'RefusedByEtcd');
  return found && 'message' in found ? found.message : undefined;
}
