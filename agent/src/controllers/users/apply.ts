import { GrpcStatus } from '../../etcd/grpc.ts';
import { AgentError, messageOf } from '../../lib/errors.ts';
import { type AuthCall, changeAuth } from '../cluster/etcd/auth-calls.ts';
import type { EtcdCall } from '../cluster/etcd/etcd-port.ts';
import { root } from '../root-certificate.ts';
import { after, type Decision, decide, described, passwordsIn, subjectOf, type WantedAuth } from './decide.ts';
import { userNameOf } from './object.ts';
import { type Asked, type Read, readAuth, tryLogins } from './read.ts';

export interface Applied {
  readonly read: Read;
  readonly verdicts: Decision['verdicts'];
  /** Authentication is to be on. */
  readonly isOn: boolean;
  /** The next call may not be made now. */
  readonly isHeld: boolean;
  /** The calls that changed something. */
  readonly calls: readonly AuthCall[];
  /** Why etcd refused others, each of one user. */
  readonly refused: readonly string[];
}

export interface ApplyOptions {
  readonly etcd: EtcdCall;
  readonly wanted: WantedAuth;
  /** The calls that may be made now. Default: all. */
  readonly lets?: (call: AuthCall) => boolean;
  /** What an earlier pass has read. */
  readonly last?: Read | undefined;
  /** Called before and after each call; throws if it may not be made. */
  readonly at: (point: string) => Promise<void>;
}

/** What etcd has and should have, without a change. */
export async function look({
  etcd,
  wanted,
  last,
}: Omit<ApplyOptions, 'at' | 'lets'>): Promise<Decision & { read: Read }> {
  const read = await readAuth(etcd, askedBy(wanted), last);
  const decision = decide(read.facts, wanted);
  if (decision.call) return { read, ...decision };
  // Nothing else waits for logins.
  const tried = await tryLogins(etcd, read);
  return { read: tried, ...decide(tried.facts, wanted) };
}

const askedBy = (wanted: WantedAuth): Asked => ({ names: namesOf(wanted), passwords: passwordsIn(wanted) });

export const namesOf = ({ users }: WantedAuth): string[] => [...new Set(users.map(userNameOf))].sort();

/** Makes one call after the other until etcd has what it should have. Then it is read again: something else may write too. */
export async function apply(options: ApplyOptions): Promise<Applied> {
  const { etcd, wanted, at, lets = () => true } = options;
  const calls: AuthCall[] = [];
  const failed = new Map<string, string>();
  const asked = askedBy(wanted);
  let read = await readAuth(etcd, asked, options.last);
  for (let round = 0; ; round++) {
    const before = calls.length;
    let decision = decide(read.facts, wanted, failed);
    if (!decision.call) {
      read = await tryLogins(etcd, read);
      decision = decide(read.facts, wanted, failed);
    }
    let { facts } = read;
    for (let { call } = decision; call && lets(call); { call } = decision) {
      await at(`before ${call.kind}`);
      const why = await send(etcd, call, asked.passwords);
      await at(`after ${call.kind}`);
      if (why === undefined) {
        calls.push(call);
        facts = after(facts, call);
      } else failed.set(subjectOf(call)!, why);
      decision = decide(facts, wanted, failed);
    }
    if (calls.length === before || round === rounds) {
      const { verdicts, isOn, call } = decision;
      const isHeld = call !== undefined && !lets(call);
      return { read, verdicts, isOn, isHeld, calls, refused: [...failed.values()] };
    }
    const { made: _, ...known } = facts;
    read = await readAuth(etcd, asked, { ...read, facts: known }, calls.slice(before));
  }
}

/** How often changes of another writer are corrected in one pass. */
const rounds = 2;

/** gRPC code of a server that cannot answer now. */
const unavailable = 14;

/** Returns why etcd refused a change of one user. Throws if it did not answer, or refused what concerns every user. */
async function send(
  etcd: EtcdCall,
  call: AuthCall,
  passwords: ReadonlyMap<string, string>,
): Promise<string | undefined> {
  const subject = subjectOf(call);
  try {
    await etcd((channel, options) => changeAuth(channel, call, options, passwords.get(subject ?? '')));
    return undefined;
  } catch (error) {
    const cause = error instanceof AgentError ? error.cause : undefined;
    const isAnswer = cause instanceof GrpcStatus && cause.code !== unavailable;
    if (isAnswer && subject !== undefined && subject !== root)
      return `${described(call)}: ${cause.message}; correct the EtcdUser`;
    throw new Error(`${described(call)}: ${messageOf(error)}`, { cause: error });
  }
}
