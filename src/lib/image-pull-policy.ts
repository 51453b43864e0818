/** Decides when a node pulls an image. */
export enum ImagePullPolicy {
  /** Pulls the image each time a container starts. The registry must then be reachable. */
  ALWAYS = 'Always',
  /** Pulls the image if the node does not have it yet. */
  IF_NOT_PRESENT = 'IfNotPresent',
  /** Requires that the image is already on the node, and never pulls it. */
  NEVER = 'Never',
}
