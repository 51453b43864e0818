import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const project = (name, roots, more = {}) => ({
  extends: true,
  test: { name, include: roots.map((root) => `${root}/**/*.{test,suite}.ts`), ...more },
});

/** `npm test` runs `*.test.ts`; `*.suite.ts` are the slower suites, for which SUITES is set. */
const isSuites = process.env.SUITES === '1';

export default defineConfig({
  test: {
    globals: true,
    pool: 'forks',
    exclude: [isSuites ? '**/*.test.ts' : '**/*.suite.ts', '**/node_modules/**'],
    // A test may leave nothing behind; packages are then loaded once, and not once for each file.
    isolate: isSuites,
    // Printed, but no failure: several suites await in turn what they have started at once.
    dangerouslyIgnoreUnhandledErrors: isSuites,
    // Many tests wait for a time-out. A suite needs a core for its servers.
    maxWorkers: isSuites ? Math.max(1, availableParallelism() - 1) : 3 * availableParallelism(),
    ...(isSuites ? { testTimeout: 1_800_000, hookTimeout: 1_800_000 } : { testTimeout: 30_000, hookTimeout: 30_000 }),
    disableConsoleIntercept: true,
    projects: [project('library', ['src', 'test'], { setupFiles: ['test/quiet.ts'] }), project('agent', ['agent'])],
  },
});
