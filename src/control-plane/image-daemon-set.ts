import type { BackupPodSpec } from '../lib/backup-pod';
import { restrictedContainer, restrictedPod } from '../lib/pod-parts';
import { type PodFields, withPodFields } from '../lib/pods/pod-fields';

type Pod = Pick<
  BackupPodSpec,
  'image' | 'imagePullPolicy' | 'imagePullSecrets' | 'tolerations' | 'nodeSelector' | 'priorityClassName'
> & {
  readonly affinity: object;
  readonly labels: Readonly<Record<string, string>>;
  /** The labels that select its pods. */
  readonly selector: Readonly<Record<string, string>>;
};

/**
 * Returns the DaemonSetSpec of idle pods, which prevent the kubelet from removing their image.
 *
 * @param fields those of the schedule, of which the pods have what needs no rights
 */
export function imageDaemonSet(
  { image, imagePullPolicy, selector, labels, ...placement }: Pod,
  { schedulerName, runtimeClassName, podLabels, podAnnotations }: PodFields,
): object {
  const fields = { schedulerName, runtimeClassName, podLabels, podAnnotations };
  const template = {
    metadata: { labels },
    spec: {
      ...placement,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 5,
      securityContext: restrictedPod,
      containers: [
        {
          name: 'keep-image',
          image,
          imagePullPolicy,
          args: ['keep-image'],
          resources: { requests: { cpu: '1m', memory: '64Mi' }, limits: { cpu: '100m', memory: '100Mi' } },
          securityContext: restrictedContainer,
        },
      ],
    },
  };
  return {
    selector: { matchLabels: selector },
    // The pods do not depend on each other, so all nodes may get a new image at once.
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } },
    template: withPodFields(template, fields),
  };
}
