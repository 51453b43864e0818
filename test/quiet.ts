// Most tests use the images of a release to come, some an old etcd, and need not hear that again and again.
// It runs before each file, in a process of several.
const shared = globalThis as { originalWarn?: typeof console.warn };
shared.originalWarn ??= console.warn;
const warn = shared.originalWarn;
console.warn = (...said: unknown[]) => {
  if (!/were never released|has known vulnerabilities/.test(String(said[0]))) warn(...said);
};
