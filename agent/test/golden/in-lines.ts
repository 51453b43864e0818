const WIDTH = 120;

/** JSON in which what fits into a line has one, and so has each snapshot. */
export function inLines(value: unknown): string {
  return `${lines(value, '')}\n`;
}

function lines(value: unknown, indent: string): string {
  const flat = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + flat.length <= WIDTH) return flat;
  if (!Array.isArray(value) && Object.values(value).every((each) => typeof each !== 'object') && 'id' in value)
    return flat;
  const deeper = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const parts = Array.isArray(value)
    ? value.map((each) => lines(each, deeper))
    : Object.entries(value)
        .filter(([, each]) => each !== undefined)
        .map(([name, each]) => `${JSON.stringify(name)}: ${lines(each, deeper)}`);
  return `${open}\n${parts.map((part) => `${deeper}${part}`).join(',\n')}\n${indent}${close}`;
}
