import { setTimeout as sleep } from 'node:timers/promises';
import { expectedReasons, faultConditions } from '../../../src/lib/fault-conditions';
import type { Monitoring } from '../../monitoring/support/monitoring';
import type { Manifest } from '../../synth';
import type { Stage } from '../stage';
import type { Sample } from './run';

const bad: Readonly<Record<string, string>> = faultConditions;

/** ms */
const interval = 2_000;

/** Looks at the cluster and the client every two seconds. What is shorter than that may be missing. */
export class Timeline {
  readonly samples: Sample[] = [];
  readonly #stage: Stage;
  readonly #monitoring: Monitoring | undefined;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(stage: Stage, monitoring?: Monitoring) {
    this.#stage = stage;
    this.#monitoring = monitoring;
    this.#ended = this.#run();
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const begun = Date.now();
      this.samples.push(await this.#look(begun));
      await sleep(Math.max(0, begun + interval - Date.now()), undefined, { signal }).catch(() => {});
    }
  }

  async #look(at: number): Promise<Sample> {
    const { namespace, cluster, play } = this.#stage;
    const [facts, resource, alerts] = await Promise.all([
      play.client.facts().catch(() => undefined),
      namespace.get('etcdcluster', cluster.name).catch(() => undefined),
      this.#monitoring?.alerts(cluster.name).catch(() => undefined),
    ]);
    return {
      at,
      ...(facts && { written: facts.written }),
      ...(resource?.status && stateOf(resource.status)),
      ...(alerts && { alerts }),
    };
  }
}

function stateOf({ phase, operation, conditions = [] }: Manifest): Omit<Sample, 'at'> {
  const step = operation?.steps?.find(({ endedAt }: Manifest) => endedAt === undefined)?.name;
  return {
    phase,
    ...(operation && { operation: [operation.type, operation.target].filter(Boolean).join(' to ') }),
    ...(step && { step }),
    troubles: conditions
      .filter(({ type, status, reason }: Manifest) => bad[type] === status && !expectedReasons.includes(reason))
      .map(({ type, reason }: Manifest) => `${type}: ${reason}`),
  };
}
