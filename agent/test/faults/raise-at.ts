// Preloaded into the agent: raises a signal in it right before its n-th step, or before the n-th one whose name matches
// RAISE_OF. A step is a call that changes a file system, or a line of the log that names a phase. The steps' names go to a
// file.
import fs from 'node:fs';
import promises, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const { STEPS_FILE, RAISE_AT, RAISE_OF = '', RAISE } = process.env;
const { appendFileSync } = fs;
const counted = new RegExp(RAISE_OF);
let steps = 0;

function step(name: string): void {
  if (counted.test(name)) steps++;
  if (STEPS_FILE) appendFileSync(STEPS_FILE, `${name}\n`);
  if (steps === Number(RAISE_AT)) process.kill(process.pid, RAISE);
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the methods take
type Methods = Record<string, (...args: any[]) => unknown>;

function watch(holder: unknown, names: readonly string[], isStep: (...args: unknown[]) => boolean = () => true): void {
  const methods = holder as Methods;
  for (const name of names) {
    const method = methods[name]!;
    methods[name] = function (this: unknown, ...args: unknown[]) {
      if (isStep(...args)) step(`${name} ${typeof args[0] === 'string' ? args[0] : ''}`);
      return method.apply(this, args);
    };
  }
}

const writes = (_: unknown, flags: unknown) => typeof flags === 'string' && flags !== 'r';

const handle: FileHandle = await promises.open('/dev/null');
await handle.close();
watch(promises, ['mkdir', 'rename', 'rm', 'rmdir', 'unlink', 'writeFile']);
watch(promises, ['open'], writes);
watch(Object.getPrototypeOf(handle), ['write', 'sync']);
// Functions that a write stream uses.
watch(fs, ['open'], writes);
watch(fs, ['write', 'writev', 'fsync']);
syncBuiltinESMExports();

const { stderr } = process;
const write = stderr.write.bind(stderr) as (...args: unknown[]) => boolean;
stderr.write = (...args: unknown[]) => {
  const [, phase] = /"phase":"([^"]+)","msg"/.exec(String(args[0])) ?? [];
  if (phase) step(`phase ${phase}`);
  return write(...args);
};
