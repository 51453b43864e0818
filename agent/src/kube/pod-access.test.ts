import { withCache } from './pod-access.ts';

test('the token is read again after a while, and immediately after a failure', async () => {
  let now = 0;
  let reads = 0;
  let isThere = true;
  const token = withCache(
    async () => {
      reads++;
      if (!isThere) throw new Error('no token');
      return `token ${reads}`;
    },
    () => now,
  );
  expect([await token(), await token()]).toEqual(['token 1', 'token 1']);
  now += 10_000;
  isThere = false;
  await expect(token()).rejects.toThrow('no token');
  isThere = true;
  expect(await token()).toBe('token 3');
});
