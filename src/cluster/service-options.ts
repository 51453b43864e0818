/** Sets what Services for clients have, with the names that Kubernetes gives it. */
export interface ServiceFields {
  /**
   * Adds labels to the Service.
   * @default - those of the cluster
   */
  readonly labels?: { readonly [name: string]: string };
  /**
   * Adds annotations to the Service, such as those of a cloud or of external-dns.
   * @default - those of the cluster
   */
  readonly annotations?: { readonly [name: string]: string };
  /**
   * Names the class of the load balancer. It cannot be changed later.
   * @default - that of the Kubernetes cluster
   */
  readonly loadBalancerClass?: string;
  /**
   * Lists the addresses of clients that the load balancer lets through, such as `10.0.0.0/8`.
   * @default - all
   */
  readonly loadBalancerSourceRanges?: string[];
  /**
   * Decides whether traffic from outside may reach the member by way of another node: `Cluster` or `Local`.
   * @default Cluster
   */
  readonly externalTrafficPolicy?: string;
}

/** Configures the Service that leads clients to all ready members. */
export interface ServiceOptions extends ServiceFields {
  /**
   * Sets the type: `ClusterIP`, `NodePort` or `LoadBalancer`.
   * @default ClusterIP
   */
  readonly type?: string;
  /**
   * Decides whether traffic from a pod may reach a member on another node: `Cluster` or `Local`.
   * @default Cluster
   */
  readonly internalTrafficPolicy?: string;
  /**
   * Sets the port on each node.
   * @default - Kubernetes chooses one
   */
  readonly nodePort?: number;
}

/** Configures the Service of one member for clients outside of Kubernetes. */
export interface ExternalService {
  /** Sets the ordinal of the member. */
  readonly ordinal: number;
  /**
   * Adds annotations to the Service.
   * @default - those of all members
   */
  readonly annotations?: { readonly [name: string]: string };
  /**
   * Sets the port on each node.
   * @default - Kubernetes chooses one
   */
  readonly nodePort?: number;
}

/** Configures the Services for clients outside of Kubernetes, one for each member. */
export interface ExternalServicesOptions extends ServiceFields {
  /** Sets the type: `NodePort` or `LoadBalancer`. */
  readonly type: string;
  /**
   * Sets what the Services of single members have besides.
   * @default - the same for all
   */
  readonly members?: ExternalService[];
}

/** Configures the PodDisruptionBudget. */
export interface DisruptionBudgetOptions {
  /**
   * Decides whether there is one. Without it, a drain may take several members at a time.
   * @default true
   */
  readonly enabled?: boolean;
  /**
   * Decides when a pod that is not ready may be evicted: `IfHealthyBudget` or `AlwaysAllow`.
   * @default - that of Kubernetes, IfHealthyBudget
   */
  readonly unhealthyPodEvictionPolicy?: string;
}
