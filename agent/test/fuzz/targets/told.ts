const TELLING = 8;

/** Returns the secret of which the text contains a part. */
export const quotedIn = (text: string, secrets: readonly string[]): string | undefined =>
  secrets.find((secret) =>
    Array.from({ length: Math.max(1, secret.length - TELLING + 1) }, (_, at) => secret.slice(at, at + TELLING)).some(
      (part) => text.includes(part),
    ),
  );
