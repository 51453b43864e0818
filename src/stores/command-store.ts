import type { Duration } from 'cdk8s';
import { durationProblem, durationText } from '../lib/duration';
import { nameProblem, problemsOf } from '../validation/names';
import type { StoreDefinition } from './store-definition';

/** Properties of `BackupStore.command`. */
export interface CommandStoreProps {
  /**
   * The directory in the image that holds the executables `put`, `get`, `list`, `stat` and `delete`, and `now` and `sweep`
   * if they can do that. docs/backups/command-store.md says what each has to do.
   */
  readonly path: string;
  /**
   * What they find in their environment. Everybody who sees the pod can read it, so it is no place for secrets.
   * @default - PATH, HOME and TMPDIR of the image alone
   */
  readonly env?: { readonly [name: string]: string };
  /**
   * A Secret of the backup's namespace. Its keys are files in the directory that `CREDENTIALS_DIRECTORY` names in their
   * environment.
   * @default - none
   */
  readonly credentialsSecretName?: string;
  /**
   * How long one of them may show no sign of life: it takes no byte, writes none, and does not end.
   * @default Duration.seconds(60)
   */
  readonly idleTimeout?: Duration;
}

export function commandStore({ path, env, credentialsSecretName, idleTimeout }: CommandStoreProps): StoreDefinition {
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
        : `path: '${path}' is no absolute path; write it like /opt/store`,
      ...Object.keys(env ?? {}).map(variableProblem),
      credentialsSecretName === undefined ? undefined : nameProblem('credentialsSecretName', credentialsSecretName),
      durationProblem('idleTimeout', idleTimeout),
    ),
    needsOwnImage: true,
  };
}

function variableProblem(name: string): string | undefined {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return undefined;
  return `env: '${name}' is no name of a variable; use letters, digits and '_'`;
}
