import { ApiError } from './api-error.ts';

test.each([
  ['a Status', '{"message":"no","reason":"Forbidden"}', 'GET /api: no', 'Forbidden'],
  ['JSON of a proxy', '{"message":5,"reason":[]}', 'GET /api: HTTP status 500 from the API server', ''],
  ['null', 'null', 'GET /api: HTTP status 500 from the API server', ''],
  ['HTML', '<html>', 'GET /api: HTTP status 500 from the API server', ''],
])('%s', (_, body, message, reason) => {
  expect(ApiError.of(500, 'GET /api', body)).toMatchObject({ message, reason });
});
