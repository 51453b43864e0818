/** Prints for each goal if it was met. A missed goal makes the run fail. */
export function checkGoals(
  goals: readonly { readonly what: string; readonly value: number; readonly limit: number }[],
): void {
  for (const { what, value, limit } of goals) {
    const met = value <= limit;
    console.log(`${met ? '✓' : '✗'} ${what}: ${value.toFixed(2)}, goal at most ${limit}`);
    if (!met) process.exitCode = 1;
  }
}
