/** A simulated member. */
export interface Member {
  /** Of its pod, on the loopback. */
  readonly address: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly ordinal: number;
  readonly size: number;
  readonly version: string;
  readonly podUid: string;
  readonly clusterUid: string;
}

/** Number of requests to the members, by kind. */
export type Asked = Readonly<Record<string, number>>;

const number = (name: string): number => Number(/\d+$/.exec(name)![0]);

export const clusterIdOf = (cluster: string): string => (0xc0ffee0000000000n + BigInt(number(cluster))).toString(16);
export const memberIdOf = (cluster: string, ordinal: number): string =>
  (0x8000000000000000n + BigInt(number(cluster) * 16 + ordinal)).toString(16);
export const volumeIdOf = (cluster: string, ordinal: number): string => memberIdOf(cluster, ordinal).repeat(2);
export const addressOf = (cluster: string, ordinal: number): string =>
  `127.${64 + (number(cluster) >> 8)}.${number(cluster) & 255}.${ordinal + 1}`;
