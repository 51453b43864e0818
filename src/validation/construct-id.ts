import { Chart } from 'cdk8s';
import { Construct } from 'constructs';

/** A construct that is about to be made, for what is said of it before. */
export const placed = (scope: Construct, id: string) => ({
  node: { path: [Construct.isConstruct(scope) ? scope.node.path : '', id].filter(Boolean).join('/') },
});

/** The id, when the construct can be made there; else says why not, with its path. */
export function freeId(scope: Construct, id: string): string {
  const problem = placeProblem(scope, id);
  if (problem) throw new Error(`${placed(scope, id).node.path}: ${problem}`);
  return id;
}

function placeProblem(scope: Construct, id: string): string | undefined {
  if (!Construct.isConstruct(scope)) return "scope: is not a construct; give a chart, new Chart(app, 'NAME')";
  if (typeof id !== 'string' || id === '') return `id: '${id}' is not an id; give a name in quotes`;
  if (!scope.node.scopes.some(Chart.isChart)) {
    return "scope: lies in no chart; give one, new Chart(app, 'NAME')";
  }
  if (!scope.node.tryFindChild(id)) return undefined;
  return `id: '${scope.node.path}' has another construct of this id; give each its own`;
}
