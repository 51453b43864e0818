import { Versitygw } from '../harness/versitygw.ts';
import { s3StoreContract } from '../support/s3-store-contract.ts';

s3StoreContract(() => Versitygw.start());
