// Prints the paths of the programs for the tests.
import { join } from 'node:path';
import { cacheDirectory, etcdutl, newestEtcd } from '../harness/etcd-binaries.ts';

const age = (program: string) => join(cacheDirectory, 'age', program);
const { etcdctl } = newestEtcd();
process.stdout.write(JSON.stringify({ etcdctl, etcdutl: etcdutl(), age: age('age'), ageKeygen: age('age-keygen') }));
