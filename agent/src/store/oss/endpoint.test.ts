import { ExitCode } from '../../lib/errors.ts';
import { ossEndpoint } from './endpoint.ts';
import { openOss } from './oss-store.ts';

const failure = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => new Error('it was taken'),
    (error) => error,
  );

describe('endpoint and region', () => {
  const hangzhou = { endpoint: 'https://s3.oss-cn-hangzhou.aliyuncs.com', region: 'cn-hangzhou' };
  const frankfurt = { endpoint: 'https://s3.oss-eu-central-1.aliyuncs.com', region: 'eu-central-1' };
  const internal = { endpoint: 'https://s3.oss-eu-central-1-internal.aliyuncs.com', region: 'eu-central-1' };
  test.each([
    [{}, hangzhou],
    [{ region: '', endpoint: '' }, hangzhou],
    [{ region: 'eu-central-1' }, frankfurt],
    [{ region: 'oss-eu-central-1' }, frankfurt],
    [{ endpoint: 'oss-eu-central-1.aliyuncs.com' }, frankfurt],
    [{ endpoint: 'https://oss-eu-central-1.aliyuncs.com/' }, frankfurt],
    [{ endpoint: 'https://s3.oss-eu-central-1.aliyuncs.com', region: 'eu-central-1' }, frankfurt],
    [{ endpoint: 'oss-eu-central-1-internal.aliyuncs.com' }, internal],
    [{ endpoint: 's3.oss-eu-central-1-internal.aliyuncs.com' }, internal],
    [
      { endpoint: 'http://oss-cn-hangzhou.aliyuncs.com:80' },
      { ...hangzhou, endpoint: 'http://s3.oss-cn-hangzhou.aliyuncs.com' },
    ],
    [
      { endpoint: 'oss-accelerate.aliyuncs.com', region: 'eu-central-1' },
      { endpoint: 'https://s3.oss-accelerate.aliyuncs.com', region: 'eu-central-1' },
    ],
    [{ endpoint: 'oss.example.com:8443' }, { endpoint: 'https://oss.example.com:8443', region: 'cn-hangzhou' }],
  ])('%j', (given, expected) => {
    expect(ossEndpoint(given)).toEqual(expected);
  });

  test.each([
    [{ endpoint: 'mine.oss-cn-beijing.aliyuncs.com' }, 'contains a bucket; write oss-cn-beijing.aliyuncs.com'],
    [
      { endpoint: 'oss-cn-beijing.aliyuncs.com', region: 'eu-central-1' },
      'region eu-central-1 is not the region of endpoint',
    ],
    [{ endpoint: 'https://127.0.0.1:9000' }, 'is an IP address, which cannot be combined with a bucket'],
    [{ endpoint: 'https://oss-cn-beijing.aliyuncs.com/bucket' }, 'has a path'],
    [{ endpoint: 'ftp://oss-cn-beijing.aliyuncs.com' }, 'is not a URL'],
    [{ endpoint: 'https://key:hunter2@oss-cn-beijing.aliyuncs.com' }, 'credentials do not belong in a URL'],
  ])('refuses %j', async (given, why) => {
    const error = await failure(openOss({ bucket: 'bucket', ...given }));
    expect(error).toMatchObject({ exitCode: ExitCode.usage, message: expect.stringContaining(why) });
    expect(error.message).not.toContain('hunter2');
  });
});
