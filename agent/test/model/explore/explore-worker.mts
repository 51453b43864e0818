import { parentPort } from 'node:worker_threads';
import { scenarioOf } from '../scenarios.ts';
import { planner } from '../world/planner.ts';
import { Coverage } from './coverage.ts';
import { Explorer } from './explorer.ts';

export interface Task {
  name: string;
  maxStates: number;
}

/** Explores the scenarios that it receives, one after the other. */
parentPort!.on('message', ({ name, maxStates }: Task) => {
  const coverage = new Coverage();
  const exploration = new Explorer(scenarioOf(name, planner), planner, { coverage }).run(maxStates);
  parentPort!.postMessage({ exploration, counts: coverage.counts });
});
