const suffixes: Readonly<Record<string, number>> = {
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

/** Bytes of a Kubernetes quantity, such as 8Gi; undefined when it is none. */
export function bytesOf(quantity: string): number | undefined {
  const [, number, suffix = ''] = /^(\d+(?:\.\d+)?(?:e\d+)?)([kMGTPE]i?|Ki)?$/.exec(quantity) ?? [];
  const factor = suffixes[suffix];
  return number === undefined || factor === undefined ? undefined : Math.floor(Number(number) * factor);
}
