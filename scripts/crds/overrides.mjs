// What changes objects after everything else.
import { choice, list, named, object } from './schema.mjs';

/** Overrides of some of the targets that src/overrides/overrides.ts knows. */
export const overrides = (name, targets) =>
  list(
    'Changes of objects that no other field makes, one after the other: see docs/clusters/configure-a-cluster.md.',
    named(
      name,
      object('A change of all objects of a target.', {
        'target!': choice('The objects.', targets),
        'patch!': {
          type: 'object',
          description:
            'The fields to change, as in a strategic merge patch of Kubernetes. Write $patch: delete for a field or an item to delete.',
          'x-kubernetes-preserve-unknown-fields': true,
        },
      }),
    ),
    0,
    32,
  );
