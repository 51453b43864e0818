import { defaultSettings, type ReconcilerSettings } from '../../src/controllers/port/settings.ts';
import { INDEX_UNIT } from './world/etcd.ts';

/**
 * The defaults, except that one churn of leases is one unit of the model's raft index, and that nothing is tried again that a person
 * has to correct: the clock stands still here, so every operation would stay young.
 */
export const settings: ReconcilerSettings = {
  ...defaultSettings,
  churnPairs: INDEX_UNIT / 2,
  correction: 0,
};
