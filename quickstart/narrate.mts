/** How the story is told: numbered steps, what they show, and a mark for each thing that is true. */
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

/** Says what is true, or stops the story. */
export function ensure(truth: boolean, text: string): void {
  if (!truth) throw new Error(`not true: ${text}`);
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
