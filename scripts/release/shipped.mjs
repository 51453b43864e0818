// Which npm packages ship: what the agent and the library need while they run, as the lockfile has it.

/** Returns `name@version` of each. npm's `--omit=dev` would also leave out what is for development besides. */
export function shippedPackages({ packages }) {
  const found = new Map();
  const add = (path) => {
    if (found.has(path)) return;
    const { name = path.split('node_modules/').at(-1), version, ...each } = packages[path];
    found.set(path, `${name}@${version}`);
    for (const needed of neededBy(each)) {
      const place = placeOf(packages, path, needed);
      if (place) add(place);
    }
  };
  // The library has it in a bundle.
  const bundled = 'node_modules/@marcbachmann/cel-js';
  for (const path of ['', ...packages[''].workspaces, bundled]) add(path);
  return new Set(found.values());
}

/** With the peers of the library, which kubectl-etcd contains. */
const neededBy = ({ dependencies, optionalDependencies, peerDependencies }) =>
  Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });

/** Where Node finds a package from another one. Undefined for an optional one that is not installed. */
function placeOf(packages, from, name) {
  const place = `${from && `${from}/`}node_modules/${name}`;
  if (packages[place]) return place;
  return from && placeOf(packages, from.slice(0, Math.max(0, from.lastIndexOf('/'))), name);
}
