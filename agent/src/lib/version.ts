import { readFileSync } from 'node:fs';

declare const AGENT_VERSION: string | undefined;

/** Set by the bundler; from package.json when run unbundled. */
export const agentVersion: string =
  typeof AGENT_VERSION === 'string'
    ? AGENT_VERSION
    : JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
