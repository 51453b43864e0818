import { ApiObject, Chart, JsonPatch } from 'cdk8s';
import { Construct } from 'constructs';
import { isAttached } from '../lib/construct-tree';
import { first, protection } from '../lib/gitops';
import { takeName } from '../lib/name-registry';
import { crdIn } from '../packaged/crd-files';
import { requireFreeId } from '../validation/construct-id';
import * as types from '../validation/property-types';
import { requireTypes } from '../validation/type-checks';

/** Configures `EtcdCrds`. */
export interface EtcdCrdsProps {
  /**
   * Keeps the definitions when they leave the repository that Argo CD or Flux applies. They have annotations for both;
   * others ignore them.
   * @default true
   */
  readonly protect?: boolean;
}

/**
 * Renders the CustomResourceDefinitions of EtcdCluster, EtcdBackup, EtcdRestore and EtcdUser. Apply them once per
 * Kubernetes cluster, before everything else: put them into a chart of their own, without a namespace.
 *
 * If you delete them, Kubernetes deletes every EtcdCluster, EtcdBackup, EtcdRestore and EtcdUser too.
 */
export class EtcdCrds extends Construct {
  /** Holds the CustomResourceDefinition of EtcdCluster. */
  readonly etcdClusters: ApiObject;
  /** Holds the CustomResourceDefinition of EtcdBackup. */
  readonly etcdBackups: ApiObject;
  /** Holds the CustomResourceDefinition of EtcdRestore. */
  readonly etcdRestores: ApiObject;
  /** Holds the CustomResourceDefinition of EtcdUser. */
  readonly etcdUsers: ApiObject;
  private readonly annotations: Readonly<Record<string, string>>;

  /**
   * Creates the four CustomResourceDefinitions.
   *
   * @param scope The chart, or a construct inside of one.
   * @param id An id that is unique within `scope`.
   * @param props The properties that differ from the defaults.
   */
  constructor(scope: Construct, id: string, props: EtcdCrdsProps = {}) {
    super(scope, requireFreeId(scope, id));
    requireTypes(this, props, types.EtcdCrdsProps);
    const all = takeName(this, 'EtcdCrds', 'definitions');
    // Another chart may be for another Kubernetes cluster.
    const isTwice = () =>
      all.some((other) => other !== this && isAttached(other) && Chart.of(other) === Chart.of(this));
    this.node.addValidation({
      validate: () => (isTwice() ? ['another EtcdCrds of this chart has the same definitions; remove one'] : []),
    });
    this.annotations = { ...first, ...(props.protect === false ? {} : protection) };
    this.etcdClusters = this.include('EtcdClusters', 'etcdclusters.yaml');
    this.node.defaultChild = this.etcdClusters;
    this.etcdBackups = this.include('EtcdBackups', 'etcdbackups.yaml');
    this.etcdRestores = this.include('EtcdRestores', 'etcdrestores.yaml');
    this.etcdUsers = this.include('EtcdUsers', 'etcdusers.yaml');
  }

  private include(id: string, file: string): ApiObject {
    const definition = new ApiObject(this, id, crdIn(file));
    for (const [name, value] of Object.entries(this.annotations)) definition.metadata.addAnnotation(name, value);
    // A chart sets its namespace on every object, but CRDs are not namespaced.
    if (Chart.of(this).namespace !== undefined) definition.addJsonPatch(JsonPatch.remove('/metadata/namespace'));
    return definition;
  }
}
