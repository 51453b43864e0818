/** What is wrong with an IANA time zone's name; undefined when nothing is. */
export function timeZoneProblem(what: string, name: string): string | undefined {
  const unknown = `${what}: '${name}' is no IANA time zone; write it like Europe/Berlin or Etc/UTC`;
  const canonical = canonicalTimeZone(name);
  if (!canonical) return unknown;
  // JavaScript ignores case and takes offsets like +01:00; Kubernetes looks the name up in the zone database as it is.
  if (canonical !== name && canonical.toLowerCase() === name.toLowerCase()) return unknown;
  if (!/^[A-Z][\w+-]*(\/[A-Z][\w+-]*)*$/.test(name)) return unknown;
  return undefined;
}

function canonicalTimeZone(timeZone: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
