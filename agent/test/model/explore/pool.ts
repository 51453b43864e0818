import { Worker } from 'node:worker_threads';

/** Hands each task to a free worker, and calls back with every answer as it arrives. */
export async function inWorkers<Task, Answer>(
  file: URL,
  workers: number,
  tasks: readonly Task[],
  answered: (answer: Answer) => void,
): Promise<void> {
  const waiting = [...tasks];
  const work = async (): Promise<void> => {
    const worker = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: 6000 } });
    try {
      for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) answered(await ask(worker, task));
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
}

function ask<Task, Answer>(worker: Worker, task: Task): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const fail = (error: Error): void => reject(error);
  worker.once('error', fail);
  worker.once('message', (answer: Answer) => {
    worker.off('error', fail);
    resolve(answer);
  });
  worker.postMessage(task);
  return promise;
}
