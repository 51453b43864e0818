// Writes schemas/: a JSON Schema of each custom resource, from scripts/crds/. With --check it writes nothing, and fails if one is
// out of date.
import { resources } from '../crds/files.mjs';
import { jsonSchema } from '../crds/json-schema.mjs';
import { formatted, generated } from '../lib/generated.mjs';

for (const crd of resources) {
  const file = `schemas/${crd.spec.names.singular}.json`;
  generated(file, () => formatted(file, JSON.stringify(jsonSchema(crd))));
}
