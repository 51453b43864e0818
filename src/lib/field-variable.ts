/** A variable with a field of the pod, and the version that Kubernetes would add: whoever applies would not own it. */
export function fieldVariable(name: string, fieldPath: string): object {
  return { name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } };
}
