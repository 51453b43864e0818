type Labels = Readonly<Record<string, string>>;

const nameLabel = 'app.kubernetes.io/name';
const instanceLabel = 'app.kubernetes.io/instance';

/** A Deployment's selector never changes, and the clusters' network policies look for them. */
export const reservedLabels = [nameLabel, instanceLabel] as const;

/** What finds the pods of one reconciler. */
export function reconcilerSelectorLabels(name: string): Labels {
  return { [nameLabel]: 'etcd-reconciler', [instanceLabel]: name };
}

/** The labels of each object of a reconciler. */
export function reconcilerLabels(name: string, labels: Labels = {}): Labels {
  return {
    ...reconcilerSelectorLabels(name),
    'app.kubernetes.io/component': 'reconciler',
    'app.kubernetes.io/managed-by': 'cdk8s',
    ...labels,
    ...reconcilerSelectorLabels(name),
  };
}
