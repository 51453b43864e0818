/** Tells how long it took. */
export async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const begun = Date.now();
  const result = await work();
  process.stdout.write(`control-plane: ${what} ${((Date.now() - begun) / 1_000).toFixed(1)} s\n`);
  return result;
}
