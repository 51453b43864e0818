/** The agent's image, as the nodes have it or can pull it. */
export const agentImage = process.env.AGENT_IMAGE ?? '';
if (!agentImage) throw new Error('AGENT_IMAGE is not set; run these suites with npm run suite -- e2e');

/** A test that `--smoke` leaves out. */
export const slowTest = process.env.E2E_SMOKE ? (test.skip as typeof test) : test;
