/** Runs the work on every item, a few at a time, and at the end throws one error that lists every failed item. */
export async function forEach<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  work: (item: T) => Promise<void>,
  atOnce = 3,
): Promise<void> {
  const failures: string[] = [];
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      try {
        await work(item);
      } catch (error) {
        failures.push(`${nameOf(item)}: ${error instanceof Error ? error.message : error}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (items.length === 0) throw new Error('there was nothing to try');
  if (failures.length > 0) {
    throw new Error(`${failures.length} of ${items.length} went wrong:\n\n${failures.slice(0, 8).join('\n\n')}`);
  }
}
