import { Quantity } from '../../resource/quantity.ts';

interface Container {
  readonly name: string;
  readonly resources?: { readonly limits?: { readonly cpu?: unknown; readonly memory?: unknown } };
}

interface Template {
  readonly spec: { readonly initContainers?: readonly Container[]; readonly containers: readonly Container[] };
}

/**
 * The limit of a container, as fields and overrides have made it. A number counts as text: it is one of cores or bytes. Undefined:
 * there is none, or it is not a quantity, which the schema reports.
 */
export function limitOf(template: unknown, container: string, resource: 'cpu' | 'memory'): string | undefined {
  const { containers, initContainers = [] } = (template as Template).spec;
  const found = [...containers, ...initContainers].find(({ name }) => name === container);
  const limit = String(found?.resources?.limits?.[resource]);
  return Quantity.isValid(limit) ? limit : undefined;
}
