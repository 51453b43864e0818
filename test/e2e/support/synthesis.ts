import { App, Chart, Cron } from 'cdk8s';
import { EtcdBackupSchedule, type EtcdBackupScheduleProps, ImagePullPolicy } from '../../../src';
import { agentImage } from './settings';

/** A schedule for runs by hand. */
export const newYear = Cron.schedule({ minute: '0', hour: '0', day: '1', month: '1' });

/** Returns the output of `cdk8s synth` for an app with one chart. */
export function synthesize(fill: (chart: Chart) => void): string {
  const app = new App();
  fill(new Chart(app, 'backup'));
  return app.synthYaml();
}

/** A schedule of the image under test. */
export function schedule(chart: Chart, name: string, props: EtcdBackupScheduleProps): EtcdBackupSchedule {
  const image = { image: agentImage, imagePullPolicy: ImagePullPolicy.IF_NOT_PRESENT };
  return new EtcdBackupSchedule(chart, name, { name, ...image, ...props });
}
