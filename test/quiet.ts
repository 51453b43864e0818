// Most tests use the images of a release to come, some an old etcd, and need not be told so again and again.
const warn = console.warn;
console.warn = (...said: unknown[]) => {
  if (!/were never released|has known vulnerabilities/.test(String(said[0]))) warn(...said);
};
