import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpGet } from './http-get.ts';

test('a response that never ends is cut off, and still counts', async () => {
  let sent = 0;
  const endless = createServer((_, response) => {
    response.setHeader('x-etcd-cluster-id', 'c0');
    const block = Buffer.alloc(64 * 1024, 'x');
    const more = () => {
      do sent += block.length;
      while (response.write(block));
    };
    response.on('drain', more);
    more();
  }).listen(0, '127.0.0.1');
  await once(endless, 'listening');
  const answer = await httpGet(`http://127.0.0.1:${(endless.address() as AddressInfo).port}/members`);
  expect(answer).toMatchObject({ status: 200, headers: { 'x-etcd-cluster-id': 'c0' }, body: '' });
  expect(sent).toBeLessThan(32 * 1024 * 1024);
  endless.closeAllConnections();
  endless.close();
});
