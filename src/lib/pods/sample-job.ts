import { agentImage } from '../agent-image.ts';
import { type BackupJobSpec, backupJob } from '../backup-pod.ts';
import { type JobSources, jobPodOf } from './job-pod.ts';

/** A Job may get these from its reconciler, of which nothing is known here. An override may remove them. */
const proxies = ['http_proxy', 'https_proxy', 'no_proxy'].flatMap((name) => [{ name }, { name: name.toUpperCase() }]);

/** The Job without its stores and its files, which no field and no override may change: with it, fields and overrides are checked. */
export function sampleJob(sources: JobSources, resources: BackupJobSpec['resources']): object {
  const agent = sources.template?.spec.initContainers?.find(({ name }) => name === 'agent');
  return backupJob({
    ...{ cluster: '', endpoints: [], stores: [], trigger: '', serviceAccountName: '' },
    ...{ image: agentImage, imagePullPolicy: agent?.imagePullPolicy, resources },
    ...{ backoffLimit: 0, activeDeadlineSeconds: 0 },
    ...jobPodOf(sources, {}, proxies),
  });
}
