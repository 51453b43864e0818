import type { GrpcChannel } from './grpc.ts';
import { hashKV, header, status } from './maintenance.ts';
import { encodeBytes, encodeInt } from './protobuf.ts';

const answering = (message: Uint8Array) =>
  ({ endpoint: 'http://etcd:2379', unary: async () => message }) as unknown as GrpcChannel;

test.each([
  ['a number in the place of a text', encodeInt(2, 1), /a field holds a number, not bytes/],
  ['bytes in the place of a number', encodeBytes(3, 'x'), /a field holds bytes, not a number/],
  ['a number in the place of the header', encodeInt(1, 1), /a field holds a number/],
  ['no message', Buffer.from([0]), /no field has the number 0/],
])('an answer with %s is an error that names the endpoint', async (_, message, why) => {
  const failure = await status(answering(message), {}).catch((error) => error);
  expect(failure).toMatchObject({ exitCode: 10, message: expect.stringMatching(why) });
  expect(failure.message).toMatch(/^etcd at http:..etcd:2379 returned a malformed response to Maintenance.Status/);
});

test('HashKV, and a header', async () => {
  await expect(hashKV(answering(encodeBytes(2, 'x')), 1, {})).rejects.toMatchObject({ exitCode: 10 });
  expect(() => header(encodeBytes(1, 'x'))).toThrow(RangeError);
});
