import { type GrpcChannel, GrpcStatus, NoAnswerError } from '../../etcd/grpc.ts';
import { encodeBytes, encodeInt, fieldsOf, text } from '../../etcd/protobuf.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { EtcdCall, RootPort } from '../etcd/etcd-port.ts';

/** An etcd that keeps users and roles, and speaks the protocol. Permissions are kept as bytes. */
export class FakeEtcd implements RootPort {
  isEnabled = false;
  readonly users = new Map<string, Set<string>>();
  readonly roles = new Map<string, Map<string, Uint8Array>>();
  /** Of the users that have one. Real etcd keeps hashes, and takes no password while authentication is off. */
  readonly passwords = new Map<string, string>();
  /** Names of the calls. */
  readonly calls: string[] = [];
  /** Thrown instead of an answer. */
  fault: Error | undefined;
  pem: Buffer = Buffer.of();
  /** The call that is refused. */
  refused: string | undefined;
  /** The call that gets no answer. */
  silent: string | undefined;
  /** The user of it. Default: all. */
  silentFor: string | undefined;
  /** The call that is not taken because of the leader, with the code and text of the answer. */
  leaving: readonly [call: string, code: number, text: string] | undefined;
  /** The last call that is answered. */
  hangsAfter: string | undefined;
  onCall: (call: string) => void = () => {};
  revision = 1;

  get changes(): string[] {
    return this.calls.filter((call) => !/Status|Get|List/.test(call));
  }

  async certificate(): Promise<Buffer> {
    return this.pem;
  }

  async withLeader<T>(_: string | undefined, work: (call: EtcdCall) => Promise<T>): Promise<T> {
    if (this.fault) throw this.fault;
    const channel = {
      endpoint: 'etcd',
      unary: async (method: string, request: Uint8Array) => this.#answer(method, request),
    };
    return work((call) => call(channel as unknown as GrpcChannel, {}));
  }

  rest(): void {}

  #answer(method: string, request: Uint8Array): Uint8Array {
    const call = method.replace('Auth/', '');
    const fields = [...fieldsOf(request)];
    const [one = '', two = ''] = [1, 2].map((n) => fields.filter(([field]) => field === n).map(([, v]) => text(v))[0]);
    const isHanging = this.hangsAfter !== undefined && this.calls.includes(this.hangsAfter);
    this.calls.push(call);
    this.onCall(call);
    if (isHanging) throw new NoAnswerError(`etcd did not answer ${call} within 5s`);
    if (call === this.silent && (!this.silentFor || this.silentFor === one))
      throw new NoAnswerError(`etcd did not answer ${call} within 5s`);
    if (this.leaving?.[0] === call) throw refusal(this.leaving[2], this.leaving[1]);
    if (call === this.refused) throw refusal('refused');
    if (call === 'AuthStatus')
      return Buffer.concat([encodeInt(2, Number(this.isEnabled)), encodeInt(3, this.revision)]);
    if (call === 'UserList') return listOf([...this.users.keys()]);
    if (call === 'RoleList') return listOf([...this.roles.keys()]);
    if (call === 'UserGet') return listOf([...this.users.get(one)!]);
    if (call === 'RoleGet')
      return Buffer.concat([...this.roles.get(one)!.values()].map((each) => encodeBytes(2, each)));
    if (call === 'Authenticate') {
      if (!this.isEnabled) throw refusal('etcdserver: authentication is not enabled');
      const password = this.passwords.get(one);
      if (password === undefined) throw refusal('auth: authentication failed, password was given for no password user');
      if (password !== two) throw refusal('etcdserver: authentication failed, invalid user ID or password');
      return encodeBytes(2, 'token');
    }
    if (call === 'AuthEnable' || call === 'AuthDisable') this.isEnabled = call === 'AuthEnable';
    else if (call === 'UserAdd') {
      this.users.set(one, new Set());
      if (two) this.passwords.set(one, two);
    } else if (call === 'UserDelete') {
      this.users.delete(one);
      this.passwords.delete(one);
    } else if (call === 'UserChangePassword') {
      // As in real etcd, a user without a password gets none.
      if (this.passwords.has(one)) this.passwords.set(one, two);
    } else if (call === 'UserGrantRole') this.users.get(one)!.add(two);
    else if (call === 'RoleAdd') this.roles.set(one, new Map());
    else if (call === 'RoleDelete') this.roles.delete(one);
    else if (call === 'RoleGrantPermission') this.#grant(one, fields.find(([field]) => field === 2)![1] as Uint8Array);
    else throw refusal('unexpected');
    // As in real etcd, neither a refused call nor the switch on makes a revision.
    if (call !== 'AuthEnable') this.revision++;
    return new Uint8Array();
  }

  #grant(role: string, permission: Uint8Array): void {
    if (Buffer.from(permission).includes('forbidden')) throw refusal('etcdserver: invalid auth management');
    this.roles.get(role)!.set(Buffer.from(permission).toString('hex'), permission);
  }
}

const refusal = (message: string, code = 3): AgentError => {
  const cause = new GrpcStatus(code, message);
  return new AgentError(ExitCode.etcdUnavailable, message, { cause });
};

const listOf = (names: readonly string[]): Uint8Array => Buffer.concat(names.map((name) => encodeBytes(2, name)));
