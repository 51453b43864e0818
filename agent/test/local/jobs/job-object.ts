import type { JobRequest } from '../../../src/controllers/cluster/effect.ts';
import type { Job, JobKind } from '../../../src/controllers/cluster/observed.ts';

export interface JobStatus {
  state: Job['state'];
  /** Pods that failed. */
  failures: number;
  /** Of the pod that runs. */
  pid?: number;
  url?: string;
  ca?: string;
  message?: string;
  backup?: Job['backup'];
}

export interface JobObject {
  request: JobRequest;
  deleting: boolean;
  status: JobStatus;
}

export const nameOf = (kind: JobKind): string => `jobs/${kind}`;
