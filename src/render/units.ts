import { amountOf } from '../resource/quantity';

/**
 * Parses a quantity in Kubernetes' format, such as `8Gi` or `500M`. Returns bytes, or undefined if it is not above
 * zero.
 */
export function parseBytes(quantity: string): number | undefined {
  const bytes = Math.ceil(amountOf(quantity) ?? 0);
  return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Returns the size rounded up to whole KiB, in the largest unit without a fraction. */
export function sizeText(bytes: number): string {
  const kibibytes = Math.ceil(bytes / 1024);
  if (kibibytes % 2 ** 20 === 0) return `${kibibytes / 2 ** 20}Gi`;
  return kibibytes % 2 ** 10 === 0 ? `${kibibytes / 2 ** 10}Mi` : `${kibibytes}Ki`;
}
