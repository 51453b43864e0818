import { readFileSync } from 'node:fs';

declare const AGENT_VERSION: string | undefined;

/** Version of the agent. Set by the bundler; read from package.json when the agent runs unbundled. */
export const agentVersion: string =
  typeof AGENT_VERSION === 'string'
    ? AGENT_VERSION
    : JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
