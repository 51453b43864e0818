import { freePorts } from './free-ports.ts';

/** A future member: what a restore must know before the member starts. */
export interface MemberPlan {
  readonly name: string;
  readonly peerUrl: string;
}

export async function planMembers(size: number): Promise<MemberPlan[]> {
  const ports = await freePorts(size);
  return ports.map((port, i) => ({ name: `etcd-${i}`, peerUrl: `http://127.0.0.1:${port}` }));
}

/** The value of `--initial-cluster`. */
export const initialCluster = (members: readonly MemberPlan[]): string =>
  members.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join();
