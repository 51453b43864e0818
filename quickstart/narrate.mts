// Output of the quickstart: numbered steps, their details, and a check mark for each fact that was verified.
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

/** Prints a verified fact. Throws if the fact is not true. */
export function ensure(holds: boolean, text: string): void {
  if (!holds) throw new Error(`check failed: ${text}`);
  console.log(`   ${paint(32, '✓')} ${text}`);
}

export function done(text: string): void {
  console.log(
    `\n${paint(32, '✓')} ${paint(1, text)} ${paint(2, `(${Math.round((performance.now() - started) / 1000)} s)`)}`,
  );
}

export function failed(error: unknown): void {
  console.error(`\n${paint(31, '✗')} ${error instanceof Error ? error.message : error}`);
}
