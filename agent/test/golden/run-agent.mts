import crypto, { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Runs the agent of a checkout, also of an older one, as `make.mts` asks for it: with its own clock, with ids that do not change
// from one run of the generator to the next, and until it is killed.

const { GOLDEN_NOW, GOLDEN_ROOT, GOLDEN_KILL } = process.env as Record<string, string>;
const now = Date.parse(GOLDEN_NOW!);
const kill = GOLDEN_KILL ? new RegExp(GOLDEN_KILL) : undefined;

const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...args: [number | string | Date] | []) {
    super(...((args.length === 0 ? [now] : args) as [number]));
  }
  static override now(): number {
    return now;
  }
} as DateConstructor;

let drawn = 0;
crypto.randomBytes = ((size: number) =>
  createHash('sha256')
    .update(`${process.argv.slice(2).join(' ')} ${now} ${drawn++}`)
    .digest()
    .subarray(0, size)) as typeof crypto.randomBytes;
syncBuiltinESMExports();

interface Files {
  readonly url: string;
  now(): Promise<Date>;
  put(key: string, ...rest: unknown[]): Promise<unknown>;
  delete(key: string, ...rest: unknown[]): Promise<unknown>;
}

const places = ['filesystem/filesystem-store.ts', 'filesystem.ts'].map((name) =>
  join(GOLDEN_ROOT!, 'agent/src/store', name),
);
const { FilesystemStore } = (await import(places.find((place) => existsSync(place))!)) as {
  FilesystemStore: { prototype: Files };
};
const store = FilesystemStore.prototype;
const after = async (what: string) => {
  if (!kill?.test(what)) return;
  process.stderr.write(`killed after: ${what}\n`);
  process.kill(process.pid, 'SIGKILL');
  await new Promise(() => {});
};
const { put, delete: remove } = store;
store.now = async () => new Date();
store.put = async function (key, ...rest) {
  const result = await put.call(this, key, ...rest);
  const file = join(fileURLToPath(this.url), key);
  await utimes(file, new Date(), new Date());
  await after(`put ${key}`);
  return result;
};
store.delete = async function (key, ...rest) {
  const result = await remove.call(this, key, ...rest);
  await after(`delete ${key}`);
  return result;
};

await import(join(GOLDEN_ROOT!, 'agent/src/cli.ts'));
