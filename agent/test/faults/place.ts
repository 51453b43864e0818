/** A separate store for each test. */
export interface Place {
  /** For `--store`. */
  readonly store: string;
  /** Every object in it. */
  keys(): Promise<string[]>;
  /** Leftovers of unfinished writes. */
  unfinished(): Promise<string[]>;
  put(key: string, bytes: Uint8Array): Promise<void>;
  get(key: string): Promise<Buffer>;
}

export async function copyAll(from: Place, to: Place, wanted: (key: string) => boolean = () => true): Promise<void> {
  for (const key of (await from.keys()).filter(wanted)) await to.put(key, await from.get(key));
}
