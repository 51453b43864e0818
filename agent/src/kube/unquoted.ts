/** Characters of a secret in a row that are one too many. */
const most = 16;

/** A message of the API server, unless it quotes what was sent: an admission webhook may quote what it refuses. */
export function unquoted(message: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap((secret) => [secret, Buffer.from(secret).toString('base64'), ...secret.split('\n')]);
  const quotes = (text: string) =>
    Array.from({ length: Math.max(0, text.length - most + 1) }, (_, at) => text.slice(at, at + most));
  const isQuoted = forms
    .filter((text) => !text.startsWith('-----'))
    .some((text) => quotes(text).some((part) => message.includes(part)));
  return isQuoted ? 'it was refused, in words that quote its secrets' : message;
}
