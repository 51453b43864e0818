import { Chart } from 'cdk8s';
import { Construct } from 'constructs';

/** The id of what `addMonitoring` creates, which callers do not choose. */
const monitoringId = 'Monitoring';

/** Stands for a construct that does not exist yet, so that an error can name its path. */
export const futureConstruct = (scope: Construct, id: string) => ({
  node: { path: [Construct.isConstruct(scope) ? scope.node.path : '', id].filter(Boolean).join('/') },
});

/**
 * Returns the id if a construct can be created under it.
 *
 * @throws with the construct's path if the scope is not inside a chart, or if the id is invalid or in use
 */
export function requireFreeId(scope: Construct, id: string): string {
  const problem = scopeProblem(scope, id);
  if (problem) throw new Error(`${futureConstruct(scope, id).node.path}: ${problem}`);
  return id;
}

function scopeProblem(scope: Construct, id: string): string | undefined {
  if (!Construct.isConstruct(scope)) return "scope: is not a construct; give a chart, new Chart(app, 'NAME')";
  if (typeof id !== 'string' || id === '') return `id: '${id}' is not an id; give a name in quotes`;
  if (!scope.node.scopes.some(Chart.isChart)) {
    return "scope: is not inside a chart; give one, new Chart(app, 'NAME')";
  }
  if (!scope.node.tryFindChild(id)) return undefined;
  if (id === monitoringId) return 'addMonitoring was called before; call it once, with all options';
  return `id: '${scope.node.path}' already has a construct with this id; give each its own`;
}
