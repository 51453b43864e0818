/** Problem with the name of an IANA time zone, or undefined. */
export function timeZoneProblem(what: string, name: string): string | undefined {
  const problem = `${what}: '${name}' is not an IANA time zone; write it like Europe/Berlin or Etc/UTC`;
  const canonical = canonicalTimeZone(name);
  if (!canonical) return problem;
  // JavaScript ignores case and accepts offsets such as +01:00; Kubernetes looks up the exact name in the zone
  // database.
  if (canonical !== name && canonical.toLowerCase() === name.toLowerCase()) return problem;
  if (!/^[A-Z][\w+-]*(\/[A-Z][\w+-]*)*$/.test(name)) return problem;
  return undefined;
}

function canonicalTimeZone(timeZone: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Returns true for a time in RFC 3339. */
export function isTimestamp(text: string): boolean {
  const [, year, month, day] = rfc3339.exec(text) ?? [];
  return year !== undefined && dayExists(Number(year), Number(month), Number(day));
}

/** Returns false for a day such as 30 February, which JavaScript would read as 2 March. */
function dayExists(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
