/** Returns the word that was probably meant, or undefined if none of `words` is similar enough. */
export function nearest(word: string, words: Iterable<string>): string | undefined {
  const limit = word.length < 4 ? 1 : Math.max(2, Math.floor(word.length / 3));
  const [best] = [...words]
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter((found) => found.distance <= limit)
    .sort((a, b) => a.distance - b.distance);
  return best?.candidate;
}

/** Number of letters that must be changed, added or removed (Levenshtein distance). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, char] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= to.length; j += 1) {
      const change = row[j - 1]! + (to[j - 1] === char ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
