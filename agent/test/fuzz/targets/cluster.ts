import { problemsOfSettings } from '../../../../src/etcd/etcd-config-keys.ts';
import { failureOf, verifiedOf } from '../../../src/controllers/backup/job-outcome.ts';
import { emptyMemory, remember } from '../../../src/controllers/cluster/observe.ts';
import { jobFailure, jobResult, lastPhase } from '../../../src/controllers/jobs/job-result.ts';
import { asking, now, World } from '../../../src/controllers/port/observed.fixture.ts';
import { defaultSettings } from '../../../src/controllers/port/settings.ts';
import { ApiError } from '../../../src/kube/api-error.ts';
import type { JobObject, PodObject } from '../../../src/kube/objects.ts';
import { agentSamples } from '../../../src/member/agent-metrics.ts';
import { parseIdentity } from '../../../src/member/identity.ts';
import { agentStatusOf } from '../../../src/protocol/agent-status-schema.ts';
import { known } from '../../../src/protocol/known.ts';
import { parseRecord } from '../../../src/protocol/record-schema.ts';
import { secretWords } from '../secrets.ts';
import { refused, type Target } from '../target.ts';
import { quotedIn } from './told.ts';

const secrets = Object.values(secretWords);

/** A reason, which is shown like an error and must not contain any part of a secret. */
function reason(text: string): typeof refused {
  const told = quotedIn(text, secrets);
  if (told) throw new TypeError(`a reason tells a secret: ${told}`);
  if (text.length > 10_000) throw new TypeError('a reason of more than 10,000 characters');
  return refused;
}

/** Replaces the answer of the first pod, of a pod that waits, and of a pod that is not a member. */
function planWith(answer: unknown): void {
  const status = agentStatusOf(answer);
  agentSamples(status, { now });
  for (const world of [new World(3), new World(3).volumeLost(1), new World(3).joiner(3), new World(3).noQuorum()]) {
    for (const ordinal of [0, 1, 3]) {
      world.o.agents[ordinal] = known({ ...status, ordinal, podUid: `pod-${ordinal}` });
      world.plan();
      remember(emptyMemory(0), world.o, now, defaultSettings);
    }
    world.agent(0, asking(0));
    world.plan();
  }
}

const pod = (message: string): PodObject[] => [
  {
    metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    status: { containerStatuses: [{ name: 'agent', state: { terminated: { exitCode: 1, message } } }] },
  },
];
const job: JobObject = {
  metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  status: { conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }] },
};

export const cluster: readonly Target[] = [
  {
    name: 'record',
    about: "the cluster's record: one that cannot be used is refused with a reason",
    kind: 'json',
    corpus: ['record'],
    run(input) {
      const answer = parseRecord(input.toString());
      if (answer.kind === 'refused') return reason(answer.reason);
      // The record that was read is written again.
      JSON.stringify(answer);
    },
  },
  {
    name: 'identity',
    about: "a volume's identity.json: one that cannot be used is refused with a reason",
    kind: 'json',
    corpus: ['identity'],
    run(input) {
      const answer = parseIdentity(input.toString());
      return answer.kind === 'unreadable' ? reason(answer.why) : JSON.stringify(answer);
    },
  },
  {
    name: 'agent-status',
    about: 'the status that a pod answers with, and what the reconciler plans with it',
    kind: 'json',
    corpus: ['agent-status'],
    expects: (error) => error.constructor === Error && error.message.startsWith("the agent's status is not usable"),
    run(input) {
      let answer: unknown;
      try {
        answer = JSON.parse(input.toString());
      } catch {
        // The target http-json covers this.
        return refused;
      }
      planWith(answer);
    },
  },
  {
    name: 'job-result',
    about: 'the termination message of a pod: the result of a command, or the end of a log',
    kind: 'json',
    corpus: ['job-result'],
    run(input) {
      const result = jobResult(pod(input.toString()));
      const texts = [jobFailure(job, result), failureOf(job, undefined, job.status!.conditions![0]!, result).message];
      if (result) texts.push(lastPhase(result), verifiedOf(result));
      for (const text of texts)
        if (text !== undefined && typeof text !== 'string') throw new TypeError(`not a text: ${text}`);
    },
  },
  {
    name: 'etcd-settings',
    about: "etcd's settings in the ConfigMap of a cluster",
    kind: 'json',
    corpus: ['etcd-settings'],
    run(input) {
      let settings: unknown;
      try {
        settings = JSON.parse(input.toString());
      } catch {
        return refused;
      }
      if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) return refused;
      return problemsOfSettings(settings as never, '3.6').length > 0 ? refused : undefined;
    },
  },
  {
    name: 'api-error',
    about: 'an error answer of the API server, or of a proxy before it',
    kind: 'json',
    corpus: ['api-error'],
    run: (input) => ApiError.of(403, 'GET /api', input.toString()).message.length,
  },
];
