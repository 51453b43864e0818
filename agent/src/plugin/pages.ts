import { readFileSync } from 'node:fs';

interface Pages {
  readonly runbook: string;
  readonly members: string;
  readonly users: string;
  readonly backups: string;
  readonly alerts: string;
}

declare const PAGES: Pages | undefined;

/** The guides that explain reasons. The bundler puts them into the plugin. */
export const pages = (): Pages =>
  typeof PAGES === 'object'
    ? PAGES
    : {
        runbook: read('operations/runbook.md'),
        members: read('clusters/member-pods.md'),
        users: read('clusters/users.md'),
        backups: read('backups/backup-and-restore-resources.md'),
        alerts: read('operations/alerts.md'),
      };

const read = (page: string): string => readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');
