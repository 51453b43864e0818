/** When a node pulls an image. */
export enum ImagePullPolicy {
  /** Each time a container starts. The registry must then be reachable. */
  ALWAYS = 'Always',
  /** If the node does not have the image yet. */
  IF_NOT_PRESENT = 'IfNotPresent',
  /** Never: the image must already be on the node. */
  NEVER = 'Never',
}
