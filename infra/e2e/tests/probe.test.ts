import { ApiGatewayV2Client, UpdateStageCommand } from '@aws-sdk/client-apigatewayv2';
import { expect, test } from 'vitest';
import { apus } from '../support/apus.ts';
import { physicalIdOf } from '../support/aws.ts';
import { deployed } from '../support/deployed.ts';

const FILTER = 'apus-probe/#';

/** The commands of docs/deploy-operations.md: a token from the deployment's secret, and the probe with it. */
async function probe(...flags: readonly string[]) {
  const secret = ['--secret-id', deployed.tokenSecretArn];
  const token = await apus([
    'token',
    ...secret,
    '--sub',
    'probe',
    '--publish',
    FILTER,
    '--subscribe',
    FILTER,
  ]);
  expect(token).toMatchObject({ code: 0, stderr: '' });
  return await apus(['probe', deployed.url, ...flags], {
    APUS_TOKEN: token.lines[0] ?? '',
    APUS_PUBLISH_KEY: deployed.publishKey,
  });
}

test('apus probe reports its observation for each item', async () => {
  const { code, lines, stderr } = await probe('--publish-url', deployed.publishUrl);
  expect(stderr).toBe('');
  expect(lines).toEqual([
    expect.stringMatching(/^This sends about [\d,]+ messages, at most \$0\.00\d+ in all on AWS\.$/),
    'passed     post-order    200 of 200 posts came in their order.',
    'passed     large-posts   posts of 33 KB, 64 KB, 128 KB came as one message each.',
    // The emulator bills nothing: here the probe can only see that nothing was sent.
    'passed     empty-reply   none of 20 was sent. The metric MessageCount of the API in CloudWatch shows whether they are billed.',
    'passed     overlap       none of 10 clients that said DISCONNECT and closed at once has left a will.',
    'passed     cut           360 of 360 posts beside 20 cuts came in their order.',
    // MiniStack passes no `disconnectStatusCode` to `$disconnect`: the probe reports it.
    'differs    close-code    a session that was closed with 4001 still waits for its client: set --without-extensions close.',
    'passed     alive         none of 20 signs of life was answered, and the connection goes on.',
    'not tried  redeployment  it takes minutes and about 100 messages: --only redeployment.',
    // The emulator never ends an idle connection, so the item cannot be tried here.
    'not tried  idle-ping     it takes minutes and about 4 messages: --only idle-ping.',
    'not tried  alive-idle    it takes minutes and about 6 messages: --only alive-idle.',
  ]);
  expect(code).toBe(1);
});

async function setFramesPerSecond(framesPerSecond: number): Promise<void> {
  const ApiId = await physicalIdOf('BrokerApi', 'AWS::ApiGatewayV2::Api');
  const DefaultRouteSettings = {
    ThrottlingRateLimit: framesPerSecond,
    ThrottlingBurstLimit: framesPerSecond * 2,
  };
  const client = new ApiGatewayV2Client();
  await client.send(new UpdateStageCommand({ ApiId, StageName: 'mqtt', DefaultRouteSettings }));
}

test('apus probe holds connections while the stage changes, when it is asked to', async () => {
  const probed = probe('--only', 'redeployment', '--hold-seconds', '5');
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  void probed.then(over, over);
  // The stage is changed again and again, so that some changes happen while the connections are held, however slow the
  // machine is.
  while (!isOver) for (const framesPerSecond of [501, 500]) await setFramesPerSecond(framesPerSecond);
  const { code, lines } = await probed;
  expect(lines.slice(1)).toEqual(['passed     redeployment  5 connections stayed open for 5 s.']);
  expect(code).toBe(0);
});
