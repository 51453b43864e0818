// Security advisories of etcd. This file has no imports: the constructs, the reconciler, the agent and the plugin use it.
//
// To renew it: read https://github.com/etcd-io/etcd/security/advisories and the changelogs in etcd's repository, add what is
// new, and set `advisoriesAsOf`. https://osv.dev/vulnerability/ID has each of them.

/** The day on which this list was complete. */
export const advisoriesAsOf = '2026-11-29';

export interface Advisory {
  readonly id: string;
  readonly harm: string;
  /** A user of etcd, or somebody who is none, may do more than the permissions say. It needs authentication to matter. */
  readonly opensAuthorization?: true;
  /** Of a setting that a cluster of ours never has. */
  readonly onlyElsewhere?: true;
  /** The first patch without it, by minor version. Minors below all of these have no fix; minors above all never had it. */
  readonly fixedIn: Readonly<Record<string, number>>;
}

export const advisories: readonly Advisory[] = [
  {
    id: 'CVE-2026-73499',
    harm: 'a user that may read one key can watch all keys after it',
    opensAuthorization: true,
    fixedIn: { '3.5': 33, '3.6': 14, '3.7': 1 },
  },
  {
    id: 'CVE-2026-44283',
    harm: 'a transaction reads keys and attaches leases that its user has no permission for',
    opensAuthorization: true,
    fixedIn: { '3.4': 44, '3.5': 30, '3.6': 11 },
  },
  {
    id: 'CVE-2026-33343',
    harm: 'a nested transaction reads and writes every key, whatever its user may do',
    opensAuthorization: true,
    fixedIn: { '3.4': 42, '3.5': 28, '3.6': 9 },
  },
  {
    id: 'CVE-2026-33413',
    harm: 'clients without permission list members, raise alarms, use leases and compact the history',
    opensAuthorization: true,
    fixedIn: { '3.4': 42, '3.5': 28, '3.6': 9 },
  },
  {
    id: 'CVE-2023-32082',
    harm: 'a lease shows the names of keys that its user may not read',
    opensAuthorization: true,
    fixedIn: { '3.4': 26, '3.5': 9 },
  },
  {
    id: 'CVE-2026-73500',
    harm: 'whoever reaches a port with TLS can exhaust the memory without a certificate',
    fixedIn: { '3.5': 33, '3.6': 14, '3.7': 1 },
  },
  {
    id: 'CVE-2026-59818',
    harm: 'with listen-client-http-urls, revoked client certificates are accepted',
    onlyElsewhere: true,
    fixedIn: { '3.5': 32, '3.6': 13 },
  },
];

interface Release {
  readonly minor: string;
  readonly patch: number;
}

/** Undefined: it is not one. Letters are those of a version before it, such as `-rc.0`; the number behind that of an image is none. */
function releaseOf(version: string): Release | undefined {
  const [, minor, patch] = /^v?(\d+\.\d+)\.(\d+)(?!.*[a-z])/i.exec(version) ?? [];
  return minor === undefined ? undefined : { minor, patch: Number(patch) };
}

const minorNumber = (minor: string) => Number(minor.split('.')[1]);

/** Returns the advisories for a version of etcd, such as `3.6.11`: all of them unless it is that of a release. */
export function advisoriesFor(version: string): readonly Advisory[] {
  const release = releaseOf(version);
  if (!release) return advisories;
  const { minor, patch } = release;
  return advisories.filter(({ fixedIn }) => {
    const fixed = fixedIn[minor];
    return fixed === undefined
      ? minorNumber(minor) < Math.min(...Object.keys(fixedIn).map(minorNumber))
      : patch < fixed;
  });
}

/** The same for a cluster that these constructs describe. */
export const advisoriesForCluster = (version: string): readonly Advisory[] =>
  advisoriesFor(version).filter(({ onlyElsewhere }) => !onlyElsewhere);

/** Why a version must not be used with users, whose permissions it does not enforce; undefined: it may. */
export function authorizationProblem(version: string): string | undefined {
  const found = advisoriesForCluster(version).filter(({ opensAuthorization }) => opensAuthorization);
  return found.length === 0 ? undefined : adviceOn(found, version);
}

/** Returns the oldest version of the minor that has none of these; undefined: there is none. */
export function firstWithout(found: readonly Advisory[], version: string): string | undefined {
  const { minor = '' } = releaseOf(version) ?? {};
  const patches = found.map(({ fixedIn }) => fixedIn[minor]);
  if (patches.some((patch) => patch === undefined)) return undefined;
  return `${minor}.${Math.max(...(patches as number[]))}`;
}

/** Describes the advisories for a version, and names the version to use instead. */
export function adviceOn(found: readonly Advisory[], version: string): string {
  if (!releaseOf(version))
    return `etcd '${version}' is not a released version, so it may have every known vulnerability; use one such as 3.6.14`;
  const list = found.map(({ id, harm }) => `${harm} (${id})`).join('; ');
  const fixed = firstWithout(found, version);
  const remedy =
    fixed === undefined ? 'this minor version has no fix: upgrade to a newer one' : `use ${fixed} or newer`;
  return `etcd ${version} has known vulnerabilities: ${list}; ${remedy}`;
}
