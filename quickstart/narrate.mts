// Output of the quickstart: numbered steps, their details, and a check mark for each fact that was verified.
import { availableParallelism, loadavg } from 'node:os';

const color = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code: number, text: string) => (color ? `\x1b[${code}m${text}\x1b[0m` : text);
const started = performance.now();
let steps = 0;

export function title(text: string): void {
  console.log(`\n${paint(1, text)}`);
}

export function step(text: string): void {
  console.log(`\n${paint(36, `${++steps}.`)} ${paint(1, text)}`);
}

export function show(text: string): void {
  console.log(text.trimEnd().replaceAll(/^/gm, '   '));
}

export function quote(text: string): void {
  console.log(paint(2, text.trimEnd().replaceAll(/^/gm, '   │ ')));
}

/** Prints a verified fact. Throws if the fact is not true, with `otherwise` if it says what is. */
export function ensure(holds: boolean, text: string, otherwise = text): void {
  if (!holds) throw new Error(`check failed: ${otherwise}`);
  console.log(`   ${paint(32, '✓')} ${text}`);
}

export function done(text: string): void {
  console.log(
    `\n${paint(32, '✓')} ${paint(1, text)} ${paint(2, `(${Math.round((performance.now() - started) / 1000)} s)`)}`,
  );
}

export function failed(error: unknown): void {
  console.error(`\n${paint(31, '✗')} ${error instanceof Error ? error.message : error}`);
  const processors = availableParallelism();
  const load = loadavg()[0] ?? 0;
  // With twice as many processes as processors, a write may wait for a processor instead of for etcd.
  if (load < 2 * processors) return;
  const cause = `This machine is busy (load ${load.toFixed(1)}, processors: ${processors}), and that alone can make a check fail.`;
  console.error(`  ${cause} Run the quickstart again when the machine is idle.`);
}
