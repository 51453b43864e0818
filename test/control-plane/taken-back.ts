import type { Informer } from './informer';
import { type Running, until, type Workload } from './workload';

const configMaps = { before: 'one', changed: 'one', 'deleted-later': 'one' };

/** Everybody sees what there was when the snapshot was taken, and works with it. `ordinary` ran all the time. */
export async function expectTakenBack(
  workload: Workload,
  informer: Informer,
  ordinary: readonly Running[],
): Promise<void> {
  expect(await workload.configMaps()).toEqual(configMaps);
  await until('the informer to see it', async () => isEqual(informer.seen, configMaps));
  await until('the kubelets to end what is no more', async () => (await workload.processes('later')) === 0);
  await workload.ready('deleted-later');
  await until('the kubelets to run what is again', async () => (await workload.processes('deleted-later')) === 1);
  expect(await workload.running('ordinary')).toEqual(ordinary);

  await workload.scale('ordinary', ordinary.length + 1);
  const [{ pod }] = ordinary as [Running];
  await workload.deletePod(pod);
  await workload.ready('ordinary');
  const running = ordinary.length + 1;
  await until('as many processes as pods', async () => (await workload.processes('ordinary')) === running);
  expect((await workload.running('ordinary')).map((each) => each.pod)).not.toContain(pod);
}

const isEqual = (a: Readonly<Record<string, string>> | undefined, b: Readonly<Record<string, string>>): boolean =>
  JSON.stringify(Object.entries(a ?? {}).sort()) === JSON.stringify(Object.entries(b).sort());
