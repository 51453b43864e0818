// `npm run generate`: writes crds/ and imports/. scripts/crds/ defines the custom resources.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crdFiles } from '../crds/files.mjs';
import { importClasses } from '../crds/import-classes.mjs';

const root = join(import.meta.dirname, '../..');
for (const [name, content] of crdFiles()) writeFileSync(join(root, 'crds', name), content);
await importClasses(join(root, 'imports'));
