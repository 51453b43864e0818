import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { close, open, stories } from './stories.mts';
import { folders } from './story.mts';

// node agent/test/golden/make.mts [NAME…]: makes the golden folders that do not exist yet. Those that exist stay as they are: they
// are what users have. `npm run suite -- etcd` provides the servers.

const asked = process.argv.slice(2);
try {
  await open();
  for (const [name, make] of Object.entries(stories)) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    if (existsSync(join(folders, name))) console.log(`${name} exists and stays`);
    else await make().catch((error) => console.error(`${name}:`, error));
  }
} finally {
  await close();
}
