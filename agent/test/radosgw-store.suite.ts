import { Radosgw } from './harness/radosgw.ts';
import { s3StoreContract } from './s3-store-contract.ts';

s3StoreContract(() => Radosgw.start());
