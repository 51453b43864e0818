import { lifetimes } from '../../../src/controllers/certificates/lifetimes.ts';

/**
 * Entry point of a suite that replaces roots: the agent, but clients have half a minute to read new files, not an hour.
 * What breaks only in the hour between cannot be seen here.
 */
Object.assign(lifetimes, { clients: 30_000 });
await import('../../../src/cli.ts');
