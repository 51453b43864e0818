/** Major version of Node that the agent needs. */
const NEEDED = 24;

// Imported first: with an older Node, a later module or call fails with an error that does not name the reason.
if (Number(process.versions.node.split('.')[0]) < NEEDED) {
  process.stderr.write(
    `etcd-agent: this is Node ${process.versions.node}; use Node ${NEEDED} or later, or the image, which contains it\n`,
  );
  process.exit(2);
}
