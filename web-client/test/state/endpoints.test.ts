import { expect, it, test } from 'vitest';
import { NO_SITE, siteFrom } from '../../src/state/endpoints.ts';

const PAGE = new URL('https://tools.example/mqtt/?x=1#/start');

test('paths are at the page’s own host, and ports where they are named', () => {
  const { endpoints } = siteFrom(
    {
      endpoints: [
        { door: 'node', path: '/mqtt' },
        { door: 'gateway', path: '/mqtt', port: 8084, maximumPacketSizeBytes: 24_573 },
      ],
    },
    PAGE,
  );
  expect(endpoints.map(({ url }) => url)).toEqual([
    'wss://tools.example/mqtt',
    'wss://tools.example:8084/mqtt',
  ]);
  expect(endpoints.map((endpoint) => endpoint.maximumPacketSizeBytes)).toEqual([undefined, 24_573]);
});

test('the API is at the page’s own host, also if the file names another: its key is sent there', () => {
  const api = (path: string) => siteFrom({ api: { path, access: 'key' } }, PAGE).api;
  expect(api('/api/v5')).toMatchObject({
    url: 'https://tools.example/api/v5',
    access: 'key',
    isDeployment: false,
  });
  expect(api('//elsewhere.example/api')).toBeUndefined();
  expect(api('https://elsewhere.example/api')).toBeUndefined();
  expect(siteFrom({ api: { path: '/api/v5', access: 'open' } }, PAGE).api).toBeUndefined();
});

test('a dashboard is linked to only where the link is one of the web', () => {
  const dashboard = (dashboardUrl: unknown) => siteFrom({ dashboardUrl }, PAGE).dashboardUrl;
  expect(dashboard('https://console.aws.amazon.com/cloudwatch/home')).toBe(
    'https://console.aws.amazon.com/cloudwatch/home',
  );
  expect(dashboard('javascript:alert(1)')).toBeUndefined();
  expect(dashboard(7)).toBeUndefined();
});

test.each([
  [undefined],
  [null],
  ['text'],
  [[]],
  [{ endpoints: 'none' }],
  [{ endpoints: [{ door: 'back' }] }],
])('%j names nothing, and is no failure', (read) => {
  expect(siteFrom(read, PAGE)).toEqual(NO_SITE);
});

it('takes the API of a deployment by its URL, over TLS or at this machine alone', () => {
  const api = (url: unknown) => siteFrom({ api: { url } }, PAGE).api;
  const found = { access: 'key', isDeployment: true, hasTenants: true };
  expect(api('https://x.lambda-url.eu-west-1.on.aws/')).toEqual({
    url: 'https://x.lambda-url.eu-west-1.on.aws/api/v5',
    ...found,
  });
  expect(api('http://127.0.0.1:9/')).toEqual({ url: 'http://127.0.0.1:9/api/v5', ...found });
  for (const url of ['http://tools.example/', 'http://127.0.0.1.example/', 'javascript:alert(1)', 'x', 7])
    expect(api(url)).toBeUndefined();
});
