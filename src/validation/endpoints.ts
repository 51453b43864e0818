const etcdAddress = /^(?:(https?):\/\/)?((?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\.?|\[[0-9a-f:.]+\]):\d{1,5})\/?$/i;

/**
 * Returns an etcd endpoint as a URL: `host:port` becomes https with TLS, else http. An invalid endpoint is unchanged.
 */
export function endpointUrl(endpoint: string, tls: boolean): string {
  const [, scheme, address] = etcdAddress.exec(endpoint) ?? [];
  if (!address) return endpoint;
  return `${scheme ?? (tls ? 'https' : 'http')}://${address}`.toLowerCase();
}

/** Problems with etcd endpoints: none given, invalid ones, duplicates, and schemes that contradict `tls`. */
export function endpointsProblems(endpoints: readonly string[], tls: boolean): string[] {
  if (endpoints.length === 0) return ['endpoints: is empty; give at least one, such as https://etcd-0.etcd:2379'];
  const urls = endpoints.map((endpoint) => endpointUrl(endpoint, tls));
  return endpoints.flatMap((endpoint, index) => {
    const problem = endpointProblem(endpoint, tls);
    if (problem) return [`endpoints: ${problem}`];
    return urls.indexOf(urls[index]!) < index ? [`endpoints: '${endpoint}' is given twice; remove one`] : [];
  });
}

function endpointProblem(endpoint: string, tls: boolean): string | undefined {
  const [, scheme, address] = etcdAddress.exec(endpoint) ?? [];
  if (!address || Number(address.slice(address.lastIndexOf(':') + 1)) > 65_535) {
    return `'${endpoint}' is not a valid etcd endpoint; write https://HOST:2379, with the port and without a path`;
  }
  if (scheme?.toLowerCase() === 'https' && !tls) {
    return `'${endpoint}' is https, but TLS settings are missing; give EtcdClientTls.fromSecret('SECRET')`;
  }
  if (scheme?.toLowerCase() === 'http' && tls) {
    return `'${endpoint}' is plain http, but TLS settings are given; write https://, or remove them`;
  }
  return undefined;
}
