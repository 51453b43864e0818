import { Radosgw } from '../harness/radosgw.ts';
import { s3StoreContract } from '../support/s3-store-contract.ts';

// It takes no notice of the condition when an upload in parts is completed, only of that of a small object.
s3StoreContract(() => Radosgw.start(), 1024 * 1024);
