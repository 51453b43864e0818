import { readdirSync } from 'node:fs';
import { mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { FilesystemStore } from '../../src/store/filesystem/filesystem-store.ts';
import { exists } from '../../src/store/keys.ts';
import type { PutOptions } from '../../src/store/store.ts';
import { folders, readGolden } from './copy-folder.ts';
import { decide } from './decisions.ts';
import { inLines } from './in-lines.ts';

// What agents have left in stores, and what the agent of today decides about it. README.md says what each folder has.

const isUpdate = process.env.UPDATE_GOLDEN === '1';
const { now, put, delete: remove } = FilesystemStore.prototype;
const RealDate = Date;

afterEach(() => {
  Object.assign(FilesystemStore.prototype, { now, put, delete: remove });
  globalThis.Date = RealDate;
});

/** Stops the clock of this process and that of the store, which need not survive a power failure. */
function stopClocks(now: number): void {
  globalThis.Date = class extends RealDate {
    constructor(...args: [number | string | Date] | []) {
      super(...((args.length === 0 ? [now] : args) as [number]));
    }
    static override now = () => now;
  } as DateConstructor;
  const pathOf = ({ url }: FilesystemStore, key: string) => join(fileURLToPath(url), key);
  Object.assign(FilesystemStore.prototype, {
    now: async () => new Date(now),
    async put(this: FilesystemStore, key: string, body: AsyncIterable<Uint8Array>, { onlyNew }: PutOptions = {}) {
      if (onlyNew && (await this.stat(key))) throw exists(this.url, key);
      const bytes = await buffer(body);
      const path = pathOf(this, key);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, bytes);
      await utimes(path, now / 1000, now / 1000);
      return {};
    },
    async delete(this: FilesystemStore, key: string) {
      await rm(pathOf(this, key), { force: true });
      return 'deleted';
    },
  });
}

test.each(readdirSync(folders))(
  '%s is read as ever',
  async (name) => {
    const { now, over } = await readGolden(name);
    stopClocks(Date.parse(now));
    const { decisions, words } = await decide(name);
    for (const [file, text] of [
      ['decisions.json', inLines(decisions)],
      ['words.txt', words],
    ] as const) {
      // What lies over another folder changes no decision.
      const path = join(folders, over ?? name, file);
      if (isUpdate && over === undefined) await writeFile(path, text);
      else expect({ [file]: text }).toEqual({ [file]: await readFile(path, 'utf8') });
    }
  },
  120_000,
);
