// What is not compiled code: scripts/lib/resource-bundle.mjs puts it into one file, so that the package has no dependencies and
// reads no files.

/** The part of the evaluator that is used here. Its own types are of an ES module. */
interface Environment {
  registerType(name: string, type: unknown): Environment;
  registerFunction(signature: string, handler: unknown): Environment;
  registerOperator(signature: string, handler: unknown): Environment;
  parse(expression: string): (variables: object) => unknown;
}

/** Returns the class that evaluates CEL. */
export const evaluator = (): (new (options: object) => Environment) => require('@marcbachmann/cel-js').Environment;

/** The schemas of the custom resources, which `npm run generate` writes. Each is loaded when it is first used. */
export const schemas: Readonly<Record<string, () => unknown>> = {
  EtcdCluster: () => require('../../schemas/etcdcluster.json'),
  EtcdBackup: () => require('../../schemas/etcdbackup.json'),
  EtcdRestore: () => require('../../schemas/etcdrestore.json'),
  EtcdUser: () => require('../../schemas/etcduser.json'),
  EtcdBackupSchedule: () => require('../../schemas/etcdbackupschedule.json'),
  EtcdReconciler: () => require('../../schemas/etcdreconciler.json'),
};
