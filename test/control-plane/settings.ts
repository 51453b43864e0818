/** How many control-plane nodes this Kubernetes has. */
const planes = Number(process.env.CONTROL_PLANES);

/** Tests that want a Kubernetes of so many control-plane nodes. */
export const onPlanes = (count: 1 | 3): typeof describe =>
  planes === count ? describe : (describe.skip as typeof describe);
