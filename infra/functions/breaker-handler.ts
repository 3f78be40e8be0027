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
  eventSourceMappingIds: required(BREAKER_VARIABLES.eventSourceMappingIds).split(','),
  publishFunctionName: process.env[BREAKER_VARIABLES.publishFunctionName],
  publishReservedConcurrency: countOf(process.env[BREAKER_VARIABLES.publishReservedConcurrency]),
  topicArn: process.env[BREAKER_VARIABLES.topicArn],
  resetAfterMs: millisecondsOf(process.env[BREAKER_VARIABLES.resetMinutes]),
  now: Date.now,
  log: (line) => process.stdout.write(`${line}\n`),
});

export function handler(event: BreakerEvent): Promise<unknown> {
  return breaker.handle(event);
}

function millisecondsOf(minutes: string | undefined): number | undefined {
  return minutes === undefined ? undefined : Number(minutes) * 60_000;
}

function countOf(value: string | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`the environment variable ${name} is not set`);
  return value;
}
