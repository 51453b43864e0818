/**
 * True for a value that cdk8s resolves only when it writes the manifests: a `Lazy`, a token with `resolve`, or a text of the AWS CDK
 * for a resolver of the app. It cannot be checked before, and only a field of a manifest with a single value can have it.
 */
export function isToken(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('${Token[');
  if (typeof value !== 'object' || value === null) return false;
  return ['produce', 'resolve'].some((method) => typeof Reflect.get(value, method) === 'function');
}

/** What a value that is not known yet is refused with. */
export const knownLater = 'is known only when the manifests are written; give its value itself';
