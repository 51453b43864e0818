import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

interface Pages {
  readonly runbook: string;
  readonly members: string;
  readonly users: string;
  readonly backups: string;
  readonly alerts: string;
}

declare const PAGES: Pages | undefined;

const paths: Pages = {
  runbook: 'docs/operations/runbook.md',
  members: 'docs/clusters/member-pods.md',
  users: 'docs/clusters/users.md',
  backups: 'docs/backups/backup-and-restore-resources.md',
  alerts: 'docs/operations/alerts.md',
};

/** The guides that explain reasons, with links from the root of the repository. The bundler puts them into the plugin. */
export function pages(): Pages {
  const page = (name: keyof Pages): string =>
    withAddresses(typeof PAGES === 'object' ? PAGES[name] : read(paths[name]), paths[name]);
  return {
    runbook: page('runbook'),
    members: page('members'),
    users: page('users'),
    backups: page('backups'),
    alerts: page('alerts'),
  };
}

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** A link to the heading of a reason is its name, which `explain` takes. */
const withAddresses = (text: string, path: string): string =>
  text.replaceAll(/\[([^\]]*)\]\((?!\w+:)([^)#]*)(#[^)]*)?\)/g, (_, name: string, page: string, heading = '') =>
    page === '' && heading === `#${name.toLowerCase()}`
      ? name
      : `[${name}](${page === '' ? path : posix.join(posix.dirname(path), page)}${heading})`,
  );
