import { evaluator } from './bundled';
import { Quantity } from './quantity';

type Check = (variables: { readonly self: unknown }) => unknown;

const checks = new Map<string, Check>();
let environment: InstanceType<ReturnType<typeof evaluator>> | undefined;

/**
 * Returns whether a rule of a CustomResourceDefinition holds, as the API server evaluates it. A rule that cannot be evaluated
 * does not hold.
 *
 * In two respects the evaluator differs from that of the API server. It compares texts as JavaScript does: a rule about the order
 * of texts must compare `bytes(…)`. And its regular expressions are those of JavaScript: they are the same for what the rules use,
 * except that `\s` is also the white space of Unicode.
 */
export function holds(rule: string, self: unknown): boolean {
  try {
    return checkOf(rule)({ self }) === true;
  } catch {
    return false;
  }
}

/** @throws if the rule is not valid CEL, or uses a function that is not known here */
export function checkOf(rule: string): Check {
  let check = checks.get(rule);
  if (!check) {
    environment ??= kubernetes();
    // The API server escapes the name of a field that is a reserved word.
    check = environment.parse(rule.replaceAll('__namespace__', 'namespace'));
    checks.set(rule, check);
  }
  return check;
}

/** The evaluator with those functions of Kubernetes that the rules use. */
function kubernetes() {
  const Environment = evaluator();
  const options = { unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false, enableOptionalTypes: true };
  return new Environment(options)
    .registerOperator('bytes < bytes', (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) < 0)
    .registerType('Quantity', Quantity)
    .registerFunction('isQuantity(string): bool', Quantity.isValid)
    .registerFunction('quantity(string): Quantity', Quantity.of)
    .registerFunction('Quantity.compareTo(Quantity): int', (a: Quantity, b: Quantity) => BigInt(a.compareTo(b)))
    .registerFunction('Quantity.add(Quantity): Quantity', (a: Quantity, b: Quantity) => a.add(b))
    .registerFunction('Quantity.asApproximateFloat(): double', (a: Quantity) => a.asApproximateFloat());
}
