import { defaultSettings, type ReconcilerSettings } from '../../src/controllers/port/settings.ts';
import { INDEX_UNIT } from './world/etcd.ts';

/** The defaults, except that one churn of leases is one unit of the model's raft index. */
export const settings: ReconcilerSettings = { ...defaultSettings, churnPairs: INDEX_UNIT / 2 };
