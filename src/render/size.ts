import { Size } from 'cdk8s';

const units: { readonly [suffix: string]: number } = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** A quantity of bytes as Kubernetes writes it, `8Gi` or `500M`; undefined when it is none above zero. */
export function parseBytes(quantity: string): number | undefined {
  const [, amount, suffix = ''] = /^(\d+(?:\.\d+)?)(k|[MGTP]|[KMGTP]i)?$/.exec(quantity) ?? [];
  const bytes = Math.ceil(Number(amount) * units[suffix]!);
  return amount !== undefined && bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Rounded up to whole KiB, in the largest unit that has no fraction. */
export function sizeOf(bytes: number): Size {
  const kibibytes = Math.ceil(bytes / 1024);
  if (kibibytes % 2 ** 20 === 0) return Size.gibibytes(kibibytes / 2 ** 20);
  return kibibytes % 2 ** 10 === 0 ? Size.mebibytes(kibibytes / 2 ** 10) : Size.kibibytes(kibibytes);
}
