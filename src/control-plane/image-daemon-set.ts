import type { BackupPodSpec } from '../lib/backup-pod';
import { restrictedContainer, restrictedPod } from '../lib/restricted';

type Pod = Pick<
  BackupPodSpec,
  'image' | 'imagePullPolicy' | 'imagePullSecrets' | 'tolerations' | 'nodeSelector' | 'priorityClassName'
> & {
  readonly affinity: object;
  readonly labels: Readonly<Record<string, string>>;
  /** Of the labels, those that tell its pods from all others. */
  readonly selector: Readonly<Record<string, string>>;
};

/** The DaemonSetSpec of pods that do nothing, but keep the kubelet from collecting their image as garbage. */
export function imageDaemonSet({ image, imagePullPolicy, selector, labels, ...placement }: Pod): object {
  return {
    selector: { matchLabels: selector },
    // They are of no use to each other: a new image may come to all nodes at once.
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } },
    template: {
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
    },
  };
}
