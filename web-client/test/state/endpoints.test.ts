import { expect, test } from 'vitest';
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

test('the API is at the page’s own host, whatever the file says: its key is sent there', () => {
  const api = (path: string) => siteFrom({ api: { path, access: 'key' } }, PAGE).api;
  expect(api('/api/v5')).toEqual({ url: 'https://tools.example/api/v5', access: 'key' });
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
