import { mainContainer } from '../../kube/containers.ts';
import type { Container, KubeObject } from '../../kube/objects.ts';
import { Exit, PluginError, usage } from '../exit.ts';
import type { Session } from '../session.ts';

/** What to verify, and how. */
export interface WantedVerification {
  readonly id: string;
  readonly store: string;
  readonly level: string;
  readonly identitySecret?: string;
}

export interface CronJobObject extends KubeObject {
  readonly spec: { readonly jobTemplate: { readonly spec: JobSpec } };
}

interface JobSpec {
  readonly template: {
    readonly metadata?: object;
    readonly spec: {
      readonly containers: readonly (Container & Mounting)[];
      readonly initContainers?: readonly Mounting[];
      readonly volumes?: readonly Named[];
    };
  };
}

interface Mounting {
  readonly volumeMounts?: readonly Named[];
}

interface Named {
  readonly name: string;
}

/** Seconds for which the Job stays when it is over: a day. */
const keep = 86_400;
const identities = { name: 'age-identities', mountPath: '/etc/etcd-agent/age-identities', readOnly: true };

/** The Job of the schedule, which verifies instead. The CronJob owns it but does not control it, so it counts as no run. */
export function jobOf(
  { metadata, spec: { jobTemplate } }: CronJobObject,
  session: Session,
  wanted: WantedVerification,
) {
  const { template, ...rest } = jobTemplate.spec;
  const { containers, initContainers = [], volumes = [] } = template.spec;
  const container = mainContainer(containers);
  const others = containers.filter((other) => other !== container);
  if (!container) throw new PluginError(Exit.refused, `CronJob ${metadata.name} has no container to verify with`);
  const args = argumentsOf(container, wanted);
  const secret = wanted.identitySecret;
  const mounts = (container.volumeMounts ?? []).filter(({ name }) => isNeeded(name, wanted));
  const mounted = new Set(
    [{ volumeMounts: mounts }, ...others, ...initContainers].flatMap(({ volumeMounts = [] }) =>
      volumeMounts.map(({ name }) => name),
    ),
  );
  const verifying = { ...container, args, volumeMounts: secret ? [...mounts, identities] : mounts };
  const kept = volumes.filter(({ name }) => mounted.has(name));
  const volume = { name: identities.name, secret: { secretName: secret, defaultMode: 0o440 } };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${metadata.name}-v${Math.floor(session.now / 1000).toString(36)}`,
      namespace: session.namespace,
      // Without the label of the cluster, by which the reconciler knows the backups of a schedule.
      labels: { 'app.kubernetes.io/name': 'etcd-backup-verification', 'app.kubernetes.io/managed-by': 'kubectl-etcd' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: metadata.name, uid: metadata.uid }],
    },
    spec: {
      ...rest,
      backoffLimit: 0,
      ttlSecondsAfterFinished: keep,
      template: {
        ...template,
        spec: {
          ...template.spec,
          containers: [verifying, ...others],
          volumes: secret ? [...kept, volume] : kept,
        },
      },
    },
  };
}

/**
 * Whether to mount a volume of the backup. Not those for etcd (`tls`, `auth`), nor those for other stores, whose Secrets may
 * even be missing: see src/lib/backup-pod.ts for the names. Volumes with other names are the user's own.
 */
function isNeeded(volume: string, { store }: WantedVerification): boolean {
  const [, index] = /^store-(\d+)(?:-|$)/.exec(volume) ?? [];
  return index === undefined ? !/^(tls|auth)(-\d+)?$/.test(volume) : Number(index) === Number(store) - 1;
}

/** Those of the backup that say where its snapshots are. */
function argumentsOf({ args = [] }: Container, { id, store, level, identitySecret }: WantedVerification): string[] {
  const given = (flag: string) => args.filter((each) => each.startsWith(`--${flag}=`));
  const stores = given('store');
  const chosen = stores[Number(store) - 1];
  if (chosen === undefined)
    throw usage(
      `--store: the schedule has ${stores.length === 1 ? 'one store' : `${stores.length} stores`}, not '${store}'`,
    );
  return [
    'verify',
    ...given('cluster'),
    ...given('namespace'),
    chosen,
    `--level=${level}`,
    ...(identitySecret ? [`--age-identity-file=${identities.mountPath}`] : []),
    '--output=json',
    // Otherwise an id such as `--store=…` is a flag.
    '--',
    // Kubernetes replaces `$(NAME)` in arguments; `$$` stands for one dollar sign.
    id.replaceAll('$', '$$$$'),
  ];
}
