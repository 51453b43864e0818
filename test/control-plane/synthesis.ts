import { App, Chart } from 'cdk8s';
import { ControlPlaneEtcdBackup, type ControlPlaneEtcdBackupProps, ImagePullPolicy } from '../../src';
import { agentImage } from '../e2e/support/settings';
import { newYear } from '../e2e/support/synthesis';

/** A backup with the image under test, whose runs are started by hand. */
export function controlPlaneBackup(
  namespace: string,
  props: Omit<ControlPlaneEtcdBackupProps, 'schedule'>,
): { app: App; backup: ControlPlaneEtcdBackup } {
  const app = new App();
  const chart = new Chart(app, 'control-plane-backup', { namespace });
  const backup = new ControlPlaneEtcdBackup(chart, 'hourly', {
    ...{ image: agentImage, imagePullPolicy: ImagePullPolicy.IF_NOT_PRESENT },
    ...{ schedule: newYear, ...props },
  });
  return { app, backup };
}
