import { readFile } from 'node:fs/promises';
import type { AcceptedClients } from '../lib/http/tls-server.ts';
import { configFile } from './etcd-config.ts';

/** Like the etcd beside it, the agent serves nobody without the revocation list that etcd's configuration names. */
export const acceptedClients = (directory: string, dataDir: string): AcceptedClients => ({
  directory,
  needsList: async (file) => (await readFile(configFile(dataDir), 'utf8').catch(() => '')).includes(file),
});
