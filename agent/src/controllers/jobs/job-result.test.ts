import type { JobObject, PodObject } from '../../kube/objects.ts';
import { jobFailure, jobResult } from './job-result.ts';

const pod = (message: string): PodObject[] => [
  {
    metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    status: {
      containerStatuses: [
        { name: 'a-sidecar', state: { terminated: { exitCode: 0 } } },
        { name: 'backup', state: { terminated: { exitCode: 7, message } } },
      ],
    },
  },
];

test('the result of a command', () => {
  expect(jobResult(pod('log\n{"exitCode":3,"error":"full","phases":{"upload":1}}\n'))).toEqual({
    ...{ exitCode: 3, error: 'full', phases: { upload: 1 } },
  });
});

test('fields of other types count as missing: the image is the choice of the user', () => {
  expect(jobResult(pod('{"exitCode":"x","error":{},"stores":null,"suspect":[1],"phases":2}'))).toEqual({ exitCode: 7 });
});

test('the end of a log', () => {
  expect(jobResult(pod('killed\n'))).toEqual({ exitCode: 7, error: 'killed' });
  expect(jobResult(pod(''))).toBeUndefined();
});

test('why a Job failed: what the agent found, not how Kubernetes counts its exit code', () => {
  const failed = { type: 'Failed', status: 'True', message: 'Container backup failed with exit code 11' };
  const job = { status: { conditions: [failed] } } as unknown as JobObject;
  expect(jobFailure(job, { exitCode: 11, suspect: ['Corrupt'] })).toBe('stored, but not counted as verified: Corrupt');
  expect(jobFailure(job, { exitCode: 3, stores: [{ store: 's3://b', error: 'full' }] })).toBe(
    'stored, but s3://b: full',
  );
  expect(jobFailure(job, undefined)).toBe(failed.message);
});
