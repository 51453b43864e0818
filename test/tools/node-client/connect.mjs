import { readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Etcd3 } from 'etcd3';

/** Returns a client with the files of this moment. It keeps them, also for later connections. */
async function connect(directory, hosts) {
  // A kubelet replaces the directory that the files are links into.
  const at = dirname(await realpath(join(directory, 'tls.crt')));
  const [rootCertificate, certChain, privateKey] = await Promise.all(
    ['ca.crt', 'tls.crt', 'tls.key'].map((name) => readFile(join(at, name))),
  );
  return new Etcd3({ hosts, credentials: { rootCertificate, certChain, privateKey } });
}

/** Returns a function that makes a call, and after an error makes it again with a new client and the files read again. */
export function caller(directory, hosts, patience = 1_000) {
  let client;
  return async (call) => {
    for (let until; ; await sleep(20)) {
      try {
        client ??= await connect(directory, hosts);
        return await call(client);
      } catch (error) {
        until ??= Date.now() + patience;
        if (Date.now() >= until) throw error;
        client?.close();
        client = undefined;
      }
    }
  };
}
