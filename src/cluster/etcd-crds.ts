import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ApiObject, Chart, JsonPatch, Yaml } from 'cdk8s';
import { Construct } from 'constructs';
import { freeId } from '../validation/construct-id';

/**
 * The custom resources EtcdCluster, EtcdBackup and EtcdRestore, as the package's `crds/` has them. Once per Kubernetes,
 * and applied before everything else: give them a chart of their own, without a namespace.
 *
 * When they are deleted, Kubernetes deletes every EtcdCluster, EtcdBackup and EtcdRestore too.
 */
export class EtcdCrds extends Construct {
  /** The CustomResourceDefinition of EtcdCluster. */
  readonly etcdClusters: ApiObject;
  /** The CustomResourceDefinition of EtcdBackup. */
  readonly etcdBackups: ApiObject;
  /** The CustomResourceDefinition of EtcdRestore. */
  readonly etcdRestores: ApiObject;

  constructor(scope: Construct, id: string) {
    super(scope, freeId(scope, id));
    this.etcdClusters = this.include('EtcdClusters', 'etcdclusters.yaml');
    this.etcdBackups = this.include('EtcdBackups', 'etcdbackups.yaml');
    this.etcdRestores = this.include('EtcdRestores', 'etcdrestores.yaml');
  }

  private include(id: string, file: string): ApiObject {
    const [manifest] = Yaml.load(join(directory(), file));
    const definition = new ApiObject(this, id, manifest);
    // A chart gives its namespace to every object; these have none.
    if (Chart.of(this).namespace !== undefined) definition.addJsonPatch(JsonPatch.remove('/metadata/namespace'));
    return definition;
  }
}

/** The package's `crds/`: in the nearest folder above this code that has it. */
function directory(): string {
  for (let at = __dirname; at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, 'crds/etcdclusters.yaml'))) return join(at, 'crds');
  }
  throw new Error('EtcdCrds: the files of crds/ are not above this code; do not bundle cdk8s-etcd');
}
