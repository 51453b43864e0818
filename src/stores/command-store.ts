import type { Duration } from 'cdk8s';
import { durationProblem, durationText } from '../lib/duration';
import { type INamed, nameOf } from '../validation/named';
import { manifestNameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import type { StoreDefinition } from './store-definition';

/** Configures `BackupStore.command`. */
export interface CommandStoreProps {
  /**
   * Sets the directory in the image with the executables `put`, `get`, `list`, `stat` and `delete`, and optionally
   * `now` and `sweep`. docs/backups/command-store.md specifies what each of them must do.
   */
  readonly path: string;
  /**
   * Sets environment variables of the executables. Do not put secrets here: everyone who can read the pod can read
   * them.
   * @default - only PATH, HOME and TMPDIR of the image
   */
  readonly env?: { readonly [name: string]: string };
  /**
   * Selects a Secret in the backup's namespace. Its keys become files in the directory whose path is in the environment
   * variable `CREDENTIALS_DIRECTORY`.
   * @default - no Secret
   */
  readonly credentialsSecretName?: string | INamed;
  /**
   * Limits the time in which an executable may neither read a byte, nor write a byte, nor end.
   * @default Duration.seconds(60)
   */
  readonly idleTimeout?: Duration;
}

export function commandStore({ path, env, idleTimeout, ...props }: CommandStoreProps): StoreDefinition {
  const credentialsSecretName = nameOf(props.credentialsSecretName);
  const settings = Object.entries(env ?? {}).map(([name, value]) => `${name}=${value}`);
  return {
    pod: {
      command: {
        path,
        env,
        idleTimeout: idleTimeout && durationText(idleTimeout),
        credentials: credentialsSecretName === undefined ? undefined : { secretName: credentialsSecretName },
      },
    },
    place: [`exec://${path}`, ...settings.sort()].join(' '),
    problems: problemsOf(
      /^(\/(?!\.{1,2}(\/|$))[^/\p{Cc}]+)+$/u.test(path)
        ? undefined
        : `path: '${path}' is not an absolute path; write it like /opt/store`,
      ...Object.keys(env ?? {}).map(variableProblem),
      credentialsSecretName === undefined
        ? undefined
        : manifestNameProblem('credentialsSecretName', credentialsSecretName),
      durationProblem('idleTimeout', idleTimeout),
    ),
    needsOwnImage: true,
  };
}

function variableProblem(name: string): string | undefined {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return undefined;
  return `env: '${name}' is not a valid name of a variable; use letters, digits and '_'`;
}
