/** Formats a duration with its two largest units: `1d 3h`, `12m 5s`. */
export function formatAge(milliseconds: number): string {
  const total = Math.floor(milliseconds / 1000);
  const parts = [
    [Math.floor(total / 86_400), 'd'],
    [Math.floor(total / 3600) % 24, 'h'],
    [Math.floor(total / 60) % 60, 'm'],
    [total % 60, 's'],
  ] as const;
  const first = parts.findIndex(([value]) => value > 0);
  if (first < 0) return '0s';
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value}${unit}`)
    .join(' ');
}
