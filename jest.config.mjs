import { availableParallelism } from 'node:os';

// `*.test.ts` is `npm test`; `*.suite.ts` are the slower suites, run by jest.suites.config.mjs.
const swc = (module) => ({
  '^.+\\.ts$': [
    '@swc/jest',
    { jsc: { target: 'es2024', parser: { syntax: 'typescript' }, externalHelpers: true }, module: { type: module } },
  ],
});

// An ES module, which the package has in a bundle.
const evaluator = { 'cel-js/lib/.+\\.js$': ['@swc/jest', { module: { type: 'commonjs' } }] };

export const library = {
  displayName: 'library',
  rootDir: import.meta.dirname,
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  transform: { ...swc('commonjs'), ...evaluator },
  transformIgnorePatterns: ['/node_modules/(?!@marcbachmann/cel-js/)'],
  setupFiles: ['<rootDir>/test/quiet.ts'],
};

export const agent = {
  displayName: 'agent',
  rootDir: `${import.meta.dirname}/agent`,
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: swc('es6'),
};

// Jest would leave one core to itself: on two that is half. Many tests wait for a process or a time-out.
export default { projects: [library, agent], testTimeout: 30_000, maxWorkers: 2 * availableParallelism() };
