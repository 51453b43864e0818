import { Radosgw } from '../harness/radosgw.ts';
import { s3StoreContract } from '../support/s3-store-contract.ts';

// It honors the condition only for small objects, and ignores it when an upload in parts is completed.
s3StoreContract(() => Radosgw.start(), 1024 * 1024);
