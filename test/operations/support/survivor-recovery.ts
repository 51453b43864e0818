import type { QuorumRecovery } from '../../../src';
import type { Play } from '../../e2e/watch/play';

/** Waits until the status reports that most volumes are lost. */
export async function majorityLossTold(play: Play): Promise<void> {
  await play.namespace.until('the loss to be told', 180, async () => {
    const condition = await play.cluster.condition('QuorumLost');
    return condition?.reason === 'MajorityVolumesLost' ? condition : undefined;
  });
}

/** Recovers only by applying the manifests, with acceptDataLoss. */
export async function recovered(play: Play, id: string, more: Partial<QuorumRecovery> = {}): Promise<void> {
  await play.cluster.apply({ recovery: { id, acceptDataLoss: true, ...more } });
  await play.givesUp();
  await play.namespace.until('the end of the recovery', 240, async () => {
    const { lastRecoveryId } = await play.cluster.record();
    return lastRecoveryId === id ? id : undefined;
  });
}

export async function recover(play: Play, what: string, id: string): Promise<void> {
  await play.converges(what, 3, () => recovered(play, id));
}
