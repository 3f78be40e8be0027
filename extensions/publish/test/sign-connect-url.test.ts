import { expect, test, vi } from 'vitest';
import { signConnectUrl } from '../src/index.ts';

const credentials = { accessKeyId: 'ASIAADA', secretAccessKey: 'secret', sessionToken: 'to/ken+=' };

test('an address is signed for execute-api in its own Region, and the token is part of the signed text', async () => {
  const url = await signConnectUrl('wss://a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com/mqtt', {
    credentials,
  });
  const { origin, pathname, searchParams } = new URL(url);
  expect(origin + pathname).toBe('wss://a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com/mqtt');
  expect(Object.fromEntries(searchParams)).toEqual({
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': expect.stringMatching(/^ASIAADA\/\d{8}\/eu-west-1\/execute-api\/aws4_request$/),
    'X-Amz-Date': expect.stringMatching(/^\d{8}T\d{6}Z$/),
    'X-Amz-Expires': '300',
    'X-Amz-Security-Token': 'to/ken+=',
    'X-Amz-SignedHeaders': 'host',
    'X-Amz-Signature': expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test('an address that names no Region needs a Region', async () => {
  vi.stubEnv('AWS_REGION', undefined);
  const url = 'wss://mqtt.example.com/mqtt';
  await expect(signConnectUrl(url, { credentials })).rejects.toThrow('pass aws.region');
  expect(await signConnectUrl(url, { credentials, region: 'eu-central-1' })).toContain('eu-central-1');
  vi.unstubAllEnvs();
});
