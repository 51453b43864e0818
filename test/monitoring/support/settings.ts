/** The image with the Prometheus operator, Prometheus and Alertmanager, as the nodes have it or can pull it. */
export function imageOfMonitoring(): string {
  const image = process.env.MONITORING_IMAGE;
  if (image) return image;
  throw new Error('MONITORING_IMAGE is not set; run this suite with npm run suite -- alerts, dashboard or chaos');
}
