import { agent, library } from './jest.config.mjs';

const suites = (project) => ({ ...project, testMatch: ['**/*.suite.ts'] });

export default { projects: [suites(library), suites(agent)], testTimeout: 1_800_000 };
