/** A systemd EnvironmentFile: `NAME=value` lines, quotes around a value allowed, `#` and `;` begin a comment. */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const lines = text.replaceAll(/\\\n/g, '').split('\n');
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value] = /^\s*(?:export\s+)?([A-Za-z_]\w*)=(.*?)\s*$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, unquoted(value ?? '')]];
    }),
  );
}

const unquoted = (value: string): string => /^(["'])(.*)\1$/s.exec(value)?.[2] ?? value;
