import type { Duration } from 'cdk8s';
import { durationText } from '../lib/duration';
import { type INamed, nameOf } from '../validation/named';
import { type StoreDefinition, storeProblems } from './store-definition';

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
  const pod = {
    command: {
      path,
      env,
      idleTimeout: idleTimeout && durationText(idleTimeout),
      credentials: credentialsSecretName === undefined ? undefined : { secretName: credentialsSecretName },
    },
  };
  return {
    pod,
    problems: storeProblems(pod, []),
  };
}
