// The source files of library and agent, without their tests.
import { globSync } from 'node:fs';
import { root } from '../lib/steps.mjs';

const tests = ['**/*.test.ts', '**/*.suite.ts', '**/*.fixture.ts'];

/** Returns paths from the root of the repository. */
export const sourcesOf = (...rooms) =>
  globSync(
    rooms.map((room) => `${room}/**/*.ts`),
    { cwd: root, exclude: tests },
  ).sort();
