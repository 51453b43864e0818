// `npm run generate`: writes the pictures of docs/concepts/. With --check, fails if they are out of date.
import { pictures } from '../diagrams/pictures.mjs';
import { generated } from '../lib/generated.mjs';

for (const [name, svg] of Object.entries(pictures)) generated(`docs/concepts/${name}.svg`, () => svg);
