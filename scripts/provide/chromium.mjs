// Makes sure that Chromium is on the PATH, which the suite `site` looks at pages with.
import { provideDebianPrograms } from '../lib/debian-programs.mjs';

await provideDebianPrograms('chromium', { programs: ['chromium'], packages: ['chromium'], services: [] });
