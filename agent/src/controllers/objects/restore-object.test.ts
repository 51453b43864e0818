import { jobSettings } from './job-settings.ts';
import { restoreOf } from './restore-object.ts';

test('the Job has the ServiceAccount that comes with the annotations of the restore', () => {
  const { source } = restoreOf({
    metadata: { name: 'back', uid: 'u', creationTimestamp: '2026-11-21T02:00:00Z' },
    spec: { clusterName: 'orders', source: { backupName: 'a' }, serviceAccountAnnotations: { role: 'backup' } },
  } as never);
  expect(jobSettings.of(source)).toMatchObject({ serviceAccountName: 'back-restore' });
});
