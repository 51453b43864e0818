/** The image with the Prometheus operator, Prometheus and Alertmanager, as the nodes have it or can pull it. */
export const imageOfMonitoring = process.env.MONITORING_IMAGE ?? '';
if (!imageOfMonitoring)
  throw new Error('MONITORING_IMAGE is not set; run these suites with npm run suite -- alerts or dashboard');
