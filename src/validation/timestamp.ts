const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** What is wrong with a moment as RFC 3339; undefined when nothing is. */
export function timestampProblem(what: string, text: string): string | undefined {
  const [, year, month, day] = rfc3339.exec(text) ?? [];
  if (year && dayExists(Number(year), Number(month), Number(day))) return undefined;
  return `${what}: '${text}' is no time; write it like 2026-11-21T02:30:00Z`;
}

/** JavaScript reads 30 February as 2 March. */
function dayExists(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
