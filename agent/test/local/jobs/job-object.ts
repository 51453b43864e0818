import type { JobRequest } from '../../../src/controllers/port/effect.ts';
import type { Job, JobKind } from '../../../src/controllers/port/observed.ts';

export interface JobStatus {
  state: Job['state'];
  /** Number of failed pods. */
  failures: number;
  /** Process id and URL of the running pod. */
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
