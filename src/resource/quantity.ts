// How Kubernetes writes amounts. The library, the agent and the generators use this file.

const units: Readonly<Record<string, bigint>> = {
  ...{ '': 1n, k: 10n ** 3n, M: 10n ** 6n, G: 10n ** 9n, T: 10n ** 12n, P: 10n ** 15n, E: 10n ** 18n },
  ...{ Ki: 1n << 10n, Mi: 1n << 20n, Gi: 1n << 30n, Ti: 1n << 40n, Pi: 1n << 50n, Ei: 1n << 60n },
};
const thousandths: Readonly<Record<string, bigint>> = { m: 10n ** 3n, u: 10n ** 6n, n: 10n ** 9n };
const format = /^([+-]?)(\d+\.?\d{0,18}|\.\d{1,18})(?:([KMGTPE]i|[kMGTPEmun]?)|[eE]([+-]?\d{1,2}))$/;
/** An amount is counted in parts of this size, so that it is a whole number. */
const scale = 10n ** 45n;

/** An amount as Kubernetes writes it, such as 100m, 0.5 or 2Gi. */
export class Quantity {
  static isValid(text: string): boolean {
    return format.test(text);
  }

  /** @throws if it is not valid */
  static of(text: string): Quantity {
    const [, sign, digits, unit = '', exponent = '0'] = format.exec(text) ?? [];
    if (digits === undefined) throw new Error(`'${text}' is not a valid quantity`);
    const [whole, fraction = ''] = digits.split('.');
    const size = (scale * (units[unit] ?? 1n)) / (thousandths[unit] ?? 1n) / 10n ** BigInt(fraction.length);
    const amount = BigInt(`${whole}${fraction}`) * size;
    const power = 10n ** BigInt(Math.abs(Number(exponent)));
    return new Quantity((Number(exponent) < 0 ? amount / power : amount * power) * (sign === '-' ? -1n : 1n));
  }

  private readonly amount: bigint;

  private constructor(amount: bigint) {
    this.amount = amount;
  }

  add({ amount }: Quantity): Quantity {
    return new Quantity(this.amount + amount);
  }

  asApproximateFloat(): number {
    // What a number can be exactly, it is.
    return Number(this.amount / scale) + Number((this.amount % scale) / 10n ** 30n) / 1e15;
  }

  /** Returns -1, 0 or 1. */
  compareTo({ amount }: Quantity): number {
    return this.amount < amount ? -1 : Number(this.amount > amount);
  }
}

/** The larger one of two. What is not a quantity is the smallest. */
export const larger = (one: string, other: string): string =>
  (amountOf(other) ?? 0) > (amountOf(one) ?? 0) ? other : one;

/** The number that a quantity such as `8Gi`, `500M` or `100m` stands for. Undefined: it is not one, or it is negative. */
export function amountOf(quantity: string): number | undefined {
  const amount = Quantity.isValid(quantity) ? Quantity.of(quantity).asApproximateFloat() : -1;
  return amount < 0 ? undefined : amount;
}
