import { ApiGatewayV2Client } from '@aws-sdk/client-apigatewayv2';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SNSClient } from '@aws-sdk/client-sns';
import { Breaker, type BreakerEvent } from './breaker.ts';
import { BREAKER_VARIABLES } from './breaker-variables.ts';

const breaker = new Breaker({
  gateway: new ApiGatewayV2Client(),
  lambda: new LambdaClient(),
  sns: new SNSClient(),
  apiId: required(BREAKER_VARIABLES.apiId),
  stageName: required(BREAKER_VARIABLES.stageName),
  throttle: {
    framesPerSecond: Number(required(BREAKER_VARIABLES.framesPerSecond)),
    burstFrames: Number(required(BREAKER_VARIABLES.burstFrames)),
  },
  eventSourceMappingId: required(BREAKER_VARIABLES.eventSourceMappingId),
  publishFunctionName: process.env[BREAKER_VARIABLES.publishFunctionName],
  topicArn: process.env[BREAKER_VARIABLES.topicArn],
  log: (line) => process.stdout.write(`${line}\n`),
});

export function handler(event: BreakerEvent): Promise<unknown> {
  return breaker.handle(event);
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`the environment variable ${name} is not set`);
  return value;
}
