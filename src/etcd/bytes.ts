// How Kubernetes writes amounts of bytes. This file has no imports: the constructs and the reconciler use it.

const factors: { readonly [suffix: string]: number } = {
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Returns the bytes of a quantity in Kubernetes' format, such as `8Gi`, `500M` or `1e9`. Undefined: it has another form. */
export function bytesIn(quantity: string): number | undefined {
  const [, amount, exponent, suffix = ''] =
    /^\+?(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+)|(m|k|[MGTPE]|[KMGTPE]i))?$/.exec(quantity) ?? [];
  if (amount === undefined) return undefined;
  return exponent === undefined ? Number(amount) * factors[suffix]! : Number(`${amount}e${exponent}`);
}
